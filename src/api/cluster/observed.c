/* observed: GET /v1/observed: what mode: enforce would have done with the pods that were only
 * observed. */
#include "record/observed.h"
#include "api/api.h"
#include "api/reply.h"
#include "api/table.h"
#include "api/text.h"

static json_t *pods_json(const struct observed_sums *sums)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "judged", (json_int_t)sums->judged,
                     "wouldBeRefused", (json_int_t)sums->refused, "wentElsewhere",
                     (json_int_t)sums->elsewhere, "wentAsJudged", (json_int_t)sums->as_judged,
                     "waiting", (json_int_t)sums->waiting, "unknown", (json_int_t)sums->unknown);
}

static json_t *reasons_json(const struct observed_sums *sums)
{
    json_t *reasons = json_array();
    for (size_t i = 0; i < N_OBSERVED_REASONS; i++) {
        if (sums->refused_by[i] + sums->elsewhere_by[i] > 0)
            (void)json_array_append_new(
                reasons, json_pack("{s:s, s:s, s:I, s:I}", "reason", observed_reason_name(i),
                                   "message", observed_reason_text(i), "wouldBeRefused",
                                   (json_int_t)sums->refused_by[i], "wentElsewhere",
                                   (json_int_t)sums->elsewhere_by[i]));
    }
    return reasons;
}

static json_t *examples_json(const struct observed_report *report, struct arena *arena)
{
    json_t *examples = json_array();
    for (size_t i = 0; i < report->n_examples; i++) {
        const struct observed_example *example = &report->examples[i];
        json_t *pod = json_pack("{s:s, s:s, s:s}", "namespace", example->namespace_, "name",
                                example->name, "uid", example->uid);
        (void)json_array_append_new(
            examples, json_pack("{s:s, s:o, s:s, s:s, s:s, s:s, s:s}", "time",
                                text_moment(example->at_ms, arena), "pod", pod, "difference",
                                example->went_elsewhere ? "elsewhere" : "refused", "reason",
                                observed_reason_name(example->reason), "message",
                                observed_reason_text(example->reason), "node", example->node,
                                "best", example->best));
    }
    return examples;
}

static json_t *namespaces_json(const struct observed_report *report)
{
    json_t *namespaces = json_array();
    for (size_t i = 0; i < report->n_namespaces; i++) {
        const struct observed_namespace *namespace_ = &report->namespaces[i];
        (void)json_array_append_new(namespaces,
                                    json_pack("{s:s, s:o, s:o}", "namespace", namespace_->name,
                                              "pods", pods_json(&namespace_->sums), "reasons",
                                              reasons_json(&namespace_->sums)));
    }
    return namespaces;
}

static json_t *report_json(const struct observed_report *report, const struct policy *policy,
                           struct arena *arena)
{
    const struct observed_sums *all = &report->all;
    return json_pack(
        "{s:s, s:b, s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "mode", policy_mode_name(policy->mode),
        "enforcesNamespaces", policy->enforce_namespaces.is_set, "since",
        text_moment(report->since_ms, arena), "summary",
        arena_printf(arena,
                     "of %lld pods %lld would have been rejected, and %lld went to another node "
                     "than mode: enforce would have chosen",
                     (long long)all->judged, (long long)all->refused, (long long)all->elsewhere),
        "pods", pods_json(all), "examples", examples_json(report, arena), "reasons",
        reasons_json(all), "namespaces", namespaces_json(report), "otherNamespaces",
        pods_json(&report->others));
}

static void write_examples(const json_t *answer, bool wide, struct arena *arena, struct buf *out)
{
    static const char *const HEADINGS[] = {"TIME", "POD", "DIFFERENCE", "NODE",
                                           "BEST", "WHY", NULL};
    struct table *table = table_new(arena, wide, HEADINGS);
    size_t i = 0;
    json_t *example = NULL;
    json_array_foreach (json_object_get(answer, "examples"), i, example) {
        const json_t *pod = json_object_get(example, "pod");
        table_add(table,
                  (const char *[]){text_member(example, "time"), text_pod(pod, arena),
                                   text_member(example, "difference"), text_member(example, "node"),
                                   text_member(example, "best"), text_member(example, "message")});
    }
    if (i > 0) {
        buf_add_text(out, "\n");
        table_write(table, out);
    }
}

static void add_sums(struct table *table, const char *namespace_, const json_t *of,
                     struct arena *arena)
{
    const json_t *pods = json_object_get(of, "pods");
    const char *reasons = "";
    size_t i = 0;
    json_t *reason = NULL;
    json_array_foreach (json_object_get(of, "reasons"), i, reason)
        reasons =
            arena_printf(arena, "%s%s%lld %s", reasons, *reasons ? ", " : "",
                         (long long)(json_integer_value(json_object_get(reason, "wouldBeRefused")) +
                                     json_integer_value(json_object_get(reason, "wentElsewhere"))),
                         text_member(reason, "reason"));
    table_add(table, (const char *[]){namespace_, text_number(pods, "judged", arena),
                                      text_number(pods, "wouldBeRefused", arena),
                                      text_number(pods, "wentElsewhere", arena),
                                      text_number(pods, "wentAsJudged", arena),
                                      text_number(pods, "waiting", arena), reasons});
}

static void write_table(const json_t *answer, bool wide, struct arena *arena, struct buf *out)
{
    static const char *const HEADINGS[] = {"NAMESPACE", "PODS",    "REFUSED", "ELSEWHERE",
                                           "AS JUDGED", "WAITING", "REASONS", NULL};
    struct table *table = table_new(arena, wide, HEADINGS);
    size_t i = 0;
    json_t *namespace_ = NULL;
    text_write_warnings(answer, arena, out);
    table_write_line(arena_printf(arena, "since %s: %s", text_member(answer, "since"),
                                  text_member(answer, "summary")),
                     0, TABLE_MORE, out);
    write_examples(answer, wide, arena, out);
    buf_add_text(out, "\n");
    add_sums(table, "(all)", answer, arena);
    json_array_foreach (json_object_get(answer, "namespaces"), i, namespace_)
        add_sums(table, text_member(namespace_, "namespace"), namespace_, arena);
    table_write(table, out);
}

void api_observed(void *context, struct exchange *exchange)
{
    const struct api *api = context;
    struct arena *arena = exchange_arena(exchange);
    const char *elsewhere =
        api->not_leading ? api->not_leading(api->elsewhere_context, arena) : NULL;
    if (elsewhere) {
        exchange_answer_elsewhere(exchange, elsewhere);
        return;
    }
    const struct observed_report report =
        observed_report(api->observed, exchange_query(exchange, "namespace"), arena);
    const struct policy *policy CLEANUP(policy_drop_ptr) = inventory_hold_policy(api->inventory);
    json_t *answer = report_json(&report, policy, arena);
    query_names_add(api, exchange, answer);
    reply(exchange, answer, write_table);
}
