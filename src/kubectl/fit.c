/* fit: where a manifest's pods would go. The exit status is for CI. */
#include "api/tables.h"
#include "base/small_file.h"
#include "formats/json_get.h"
#include "print.h"
#include "verbs.h"

#include <unistd.h>

static bool has_items(const json_t *result, const char *list)
{
    return json_array_size(json_member(result, list)) > 0;
}

static bool has_unreadable(const json_t *result)
{
    size_t i = 0;
    json_t *item = NULL;
    json_array_foreach (json_member(result, "skipped"), i, item) {
        const char *why = "";
        (void)json_get_string(item, "why", &why, NULL);
        if (strncmp(why, "unreadable", strlen("unreadable")) == 0)
            return true;
    }
    return false;
}

static bool is_count(const json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) >= 0;
}

static bool is_workload(const json_t *workload)
{
    const json_t *refusal = json_member(workload, "refusedBecause");
    return is_count(json_member(workload, "placed")) &&
           is_count(json_member(workload, "replicas")) && (!refusal || json_is_string(refusal));
}

static bool is_dry_run(const json_t *result)
{
    const json_t *workloads = json_member(result, "workloads");
    size_t i = 0;
    json_t *workload = NULL;
    json_array_foreach (workloads, i, workload) {
        if (!is_workload(workload))
            return false;
    }
    return json_is_array(workloads);
}

static int judge(const json_t *result)
{
    size_t i = 0;
    json_t *workload = NULL;
    if (!is_dry_run(result) || !json_is_true(json_member(result, "usable")))
        return EXIT_NO_ANSWER;
    if (has_items(result, "notUnderstood") || has_items(result, "warnings") ||
        has_unreadable(result) || !has_items(result, "workloads"))
        return EXIT_MISTAKE;
    json_array_foreach (json_member(result, "workloads"), i, workload) {
        const json_t *placed = json_member(workload, "placed");
        const json_t *replicas = json_member(workload, "replicas");
        if (json_integer_value(placed) < json_integer_value(replicas) ||
            json_member(workload, "refusedBecause"))
            return EXIT_NOT;
    }
    return EXIT_FINE;
}

int verbs_fit(struct session *session)
{
    static const struct print_names NAMES = {"workloads", NULL};
    const char *file = session->arguments.manifest;
    struct err err;
    json_t *result = NULL;
    const int r = strcmp(file, "-") == 0 ? small_file_read_open(STDIN_FILENO, "standard input",
                                                                &session->manifest, &err)
                                         : small_file_read(file, true, &session->manifest, &err);
    if (r < 0)
        return session_complain(session, err.text, EXIT_MISTAKE);
    int status = session_ask_or_complain(session, "dry-run", &session->manifest, &result);
    if (status == EXIT_FINE)
        status = print_answer(session, result, tables_write_dry_run, &NAMES, true, judge(result));
    json_decref(result);
    return status;
}
