/* fit: where a manifest's pods would go. The exit status is for CI. */
#include "api/tables.h"
#include "formats/json_values.h"
#include "manifests.h"
#include "verbs.h"

/* One text is the body itself, in any encoding. */
static int add_body(const struct session *session, json_t *texts, struct buf *body)
{
    if (json_array_size(texts) == 1) {
        const json_t *text = json_array_get(texts, 0);
        buf_add(body, json_string_value(text), json_string_length(text));
        return EXIT_FINE;
    }
    const int status = manifests_check_utf8(session, texts);
    if (status == EXIT_FINE) {
        json_t *root = json_pack("{s:O}", "workloads", texts);
        json_put(root, JSON_COMPACT, body);
        json_decref(root);
    }
    return status;
}

int verbs_fit(struct session *session)
{
    static const struct print_names NAMES = {"workloads", NULL};
    json_t *result = NULL;
    json_t *texts = json_array();
    struct buf body;
    buf_init(&body, BUF_UNBOUNDED); /* files are bounded */
    int status = manifests_read(session, texts);
    if (status == EXIT_FINE)
        status = add_body(session, texts, &body);
    if (status == EXIT_FINE)
        status = session_ask_or_complain(session, "dry-run", &body, &result);
    if (status == EXIT_FINE) {
        manifests_name_skipped(session, result);
        status = print_answer(session, result, tables_write_dry_run, &NAMES, true,
                              workloads_judge(result, true));
    }
    json_decref(result);
    json_decref(texts);
    buf_fini(&body);
    return status;
}
