/* what_if: which pods find a place if nodes are added, cordoned, drained or out of
 * quarantine, or pods removed. The options and files become the body of POST /v1/what-if, which
 * names what is wrong in them. */
#include "api/tables.h"
#include "formats/json_values.h"
#include "formats/yaml_json.h"
#include "manifests.h"
#include "verbs.h"

#include <stdlib.h>

/* Limits of a file of changes. The service has limits of its own. */
static const struct yaml_options YAML_LIMITS = {.max_depth = 64, .max_values = 1000000};

struct what_if_body {
    const struct session *session;
    json_t *changes, *workloads;
    json_t *others; /* members that the service will reject */
};

/* value NULL: the option is no UTF-8. */
static int append(const struct what_if_body *body, json_t *list, json_t *value, const char *option)
{
    if (json_array_append_new(list, value) == 0)
        return EXIT_FINE;
    return session_complain(body->session,
                            arena_printf(body->session->arena, "%.300s: is no UTF-8", option),
                            EXIT_MISTAKE);
}

/* ---- options ---- */

/* NODE or NODE=COUNT */
static int add_nodes(const struct what_if_body *body, const char *value)
{
    const char *equals = strchr(value, '=');
    const char *count = equals ? equals + 1 : "1";
    if (!*count || strlen(count) > 9 || count[strspn(count, "0123456789")] || strchr(value, ','))
        return session_complain(body->session,
                                arena_printf(body->session->arena,
                                             "--add-nodes: is %.300s, should be NODE or "
                                             "NODE=COUNT; repeat the option for other nodes",
                                             value),
                                EXIT_MISTAKE);
    json_t *change = json_pack("{s:{s:s%, s:I}}", "addNodes", "like", value, strcspn(value, "="),
                               "count", (json_int_t)strtol(count, NULL, 10));
    return append(body, body->changes, change, value);
}

/* NAME,... */
static int add_names(const struct what_if_body *body, const char *member, const char *value)
{
    json_t *names = json_array();
    int status = EXIT_FINE;
    const char *at = value + strspn(value, ",");
    while (*at && status == EXIT_FINE) {
        const size_t len = strcspn(at, ",");
        status = append(body, names, json_stringn(at, len), value);
        at += len;
        at += strspn(at, ",");
    }
    (void)json_array_append_new(body->changes, json_pack("{s:o}", member, names));
    return status;
}

/* ---- files ---- */

/* A list of changes, or a whole body. */
static int add_root(const struct what_if_body *body, json_t *root, struct err *err)
{
    json_t *changes = json_is_array(root) ? root : NULL;
    json_t *workloads = NULL;
    if (!json_is_array(root) && !json_is_object(root))
        return err_set(err, EINVAL, "is %s, should be a list of changes, or an object with changes",
                       !root || json_is_null(root) ? "empty" : json_type_text(root));
    if (json_is_object(root) && (json_get_array(root, "changes", &changes, err) < 0 ||
                                 json_get_array(root, "workloads", &workloads, err) < 0))
        return -EINVAL;
    (void)json_array_extend(body->changes, changes);
    (void)json_array_extend(body->workloads, workloads);
    (void)json_object_update(body->others, root);
    return 0;
}

static int add_file(const struct what_if_body *body, const char *file)
{
    struct buf text;
    struct err err;
    json_t *root = NULL;
    struct yaml_places *places = NULL;
    buf_init(&text, SESSION_FILE_BYTES_MAX);
    int status = session_read_file(body->session, file, &text);
    if (status == EXIT_FINE) {
        int r = yaml_read(buf_text(&text), text.len, &YAML_LIMITS, &root, &places, &err);
        if (r == 0)
            r = add_root(body, root, &err);
        if (r < 0)
            status = session_complain(body->session,
                                      arena_printf(body->session->arena, "%s: %s", file, err.text),
                                      EXIT_MISTAKE);
    }
    yaml_places_free(places);
    json_decref(root);
    buf_fini(&text);
    return status;
}

static int add_change(const struct what_if_body *body, const struct asked_option *change)
{
    static const char *const MEMBERS[] = {[OPTION_CORDON] = "cordon",
                                          [OPTION_DRAIN] = "drain",
                                          [OPTION_LIFT] = "lift",
                                          [OPTION_REMOVE_PODS] = "removePods"};
    if (change->option == OPTION_ADD_NODES)
        return add_nodes(body, change->value);
    if (change->option == OPTION_CHANGES)
        return add_file(body, change->value);
    return add_names(body, MEMBERS[change->option], change->value);
}

/* ---- the answer ---- */

/* The status by the workloads, the displaced pods, and the pending pods that lose their place. */
static int judge(const json_t *result, bool has_workloads)
{
    const int status = workloads_judge(result, has_workloads);
    const json_t *counts = json_member(result, "displacedCounts");
    const json_t *n = json_member(counts, "pods");
    const json_t *n_fit = json_member(counts, "fit");
    const json_t *lost = json_member(json_member(result, "pending"), "noLonger");
    if (!workloads_is_count(n) || !workloads_is_count(n_fit) || !json_is_array(lost))
        return EXIT_NO_ANSWER;
    if (status == EXIT_FINE &&
        (json_integer_value(n_fit) < json_integer_value(n) || json_array_size(lost) > 0))
        return EXIT_NOT;
    return status;
}

static int ask(struct session *session, const json_t *request, bool has_workloads)
{
    struct buf text;
    json_t *result = NULL;
    buf_init(&text, BUF_UNBOUNDED); /* files are bounded */
    json_put(request, JSON_COMPACT, &text);
    int status = session_ask_or_complain(session, "what-if", &text, &result);
    manifests_name_skipped(session, result);
    if (status == EXIT_FINE)
        status = print_answer(session, result, tables_write_what_if, NULL, true,
                              judge(result, has_workloads));
    json_decref(result);
    buf_fini(&text);
    return status;
}

int verbs_what_if(struct session *session)
{
    const struct what_if_body body = {session, json_array(), json_array(), json_object()};
    int status = EXIT_FINE;
    for (size_t i = 0; status == EXIT_FINE && i < session->arguments.n_changes; i++)
        status = add_change(&body, &session->arguments.changes[i]);
    if (status == EXIT_FINE)
        status = manifests_read(session, body.workloads);
    if (status == EXIT_FINE)
        status = manifests_check_utf8(session, body.workloads);
    const bool has_workloads = json_array_size(body.workloads) > 0;
    (void)json_object_set_new(body.others, "changes", body.changes);
    (void)json_object_set_new(body.others, "workloads", body.workloads);
    if (status == EXIT_FINE)
        status = ask(session, body.others, has_workloads);
    json_decref(body.others);
    return status;
}
