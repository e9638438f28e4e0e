/* workloads: see manifests.h. */
#include "formats/json_values.h"
#include "manifests.h"
#include "session.h"

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

bool workloads_is_count(const json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) >= 0;
}

static bool is_workload(const json_t *workload)
{
    const json_t *refusal = json_member(workload, "refusedBecause");
    return workloads_is_count(json_member(workload, "placed")) &&
           workloads_is_count(json_member(workload, "replicas")) &&
           (!refusal || json_is_string(refusal));
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

/* Whether some of the list have one of these results. */
static bool has_result(const json_t *result, const char *list, const char *one, const char *other)
{
    size_t i = 0;
    json_t *item = NULL;
    json_array_foreach (json_member(result, list), i, item) {
        const char *verdict = "";
        (void)json_get_string(json_member(item, "verdict"), "result", &verdict, NULL);
        if (strcmp(verdict, one) == 0 || strcmp(verdict, other) == 0)
            return true;
    }
    return false;
}

int workloads_judge(const json_t *result, bool are_asked)
{
    size_t i = 0;
    json_t *workload = NULL;
    if (!is_dry_run(result) || !json_is_true(json_member(result, "usable")))
        return EXIT_NO_ANSWER;
    if (has_items(result, "notUnderstood") || has_items(result, "warnings") ||
        has_unreadable(result) || (are_asked && !has_items(result, "workloads")))
        return EXIT_MISTAKE;
    if (has_result(result, "jobs", "notJudged", "mistake") ||
        has_result(result, "workloads", "notJudged", "mistake"))
        return EXIT_MISTAKE;
    if (has_result(result, "workloads", "doesNotFit", "partlyFits") ||
        has_result(result, "workloads", "waits", "waits"))
        return EXIT_NOT;
    json_array_foreach (json_member(result, "workloads"), i, workload) {
        const json_t *placed = json_member(workload, "placed");
        const json_t *replicas = json_member(workload, "replicas");
        if (json_integer_value(placed) < json_integer_value(replicas) ||
            json_member(workload, "refusedBecause"))
            return EXIT_NOT;
    }
    return EXIT_FINE;
}
