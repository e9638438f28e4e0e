/* decisions: GET /v1/decisions: the latest answers to kube-scheduler, newest first. */
#include "record/decisions.h"
#include "api/api.h"
#include "api/cluster/decisions_json.h"
#include "api/reply.h"
#include "api/table.h"
#include "api/tables.h"
#include "api/text.h"

#include <string.h>

static json_t *verdicts_json(const struct decision *decision)
{
    json_t *verdicts = json_object();
    for (enum reason reason = 0; reason < N_REASONS; reason++) {
        const size_t n = decision->verdicts[reason];
        if (n > 0)
            (void)json_object_set_new(verdicts, reason_name(reason), json_integer((json_int_t)n));
    }
    return verdicts;
}

/* An integer suffices to compare costs. */
static json_int_t millionths(double cost)
{
    const double most = 1e18;
    const double scaled = cost * 1e6 + (cost < 0 ? -0.5 : 0.5);
    if (scaled > -most && scaled < most)
        return (json_int_t)scaled;
    return (json_int_t)(scaled < 0 ? -most : most);
}

static json_t *best_json(const struct decision *decision)
{
    json_t *best = json_array();
    for (size_t i = 0; i < decision->n_best; i++) {
        const struct decision_choice *choice = &decision->best[i];
        (void)json_array_append_new(best, json_pack("{s:s, s:i, s:I}", "node", choice->node,
                                                    "score", choice->score, "costMillionths",
                                                    millionths(choice->cost)));
    }
    return best;
}

static json_t *decision_json(const struct decision *decision, struct arena *arena)
{
    json_t *pod = json_pack("{s:s, s:s, s:s}", "namespace", decision->namespace_, "name",
                            decision->name, "uid", decision->uid);
    json_t *json = json_pack(
        "{s:I, s:s, s:s, s:o, s:I, s:I, s:I, s:I, s:o, s:o, s:s, s:s}", "number",
        (json_int_t)decision->number, "time", text_moment(decision->at_ms, arena), "verb",
        decision_verb_name(decision->verb), "pod", pod, "tookMicroseconds",
        (json_int_t)decision->took_us, "ledgerVersion", (json_int_t)decision->ledger_version,
        "nodesAsked", (json_int_t)decision->n_asked, "nodesHandedOn",
        (json_int_t)decision->n_handed_on, "verdicts", verdicts_json(decision), "best",
        best_json(decision), "node", decision->node, "error", decision->error);
    if (decision->group[0]) {
        (void)json_object_set_new(json, "group", json_string(decision->group));
        (void)json_object_set_new(json, "repeats", json_integer((json_int_t)decision->n_repeats));
    }
    if (decision->claims)
        (void)json_object_set_new(json, "claims", json_string(decision->claims));
    if (decision->is_observed) {
        (void)json_object_set_new(json, "observed", json_true());
        (void)json_object_set_new(json, "wouldDiffer", json_boolean(decision->would_differ));
    }
    return json;
}

static struct decision_query read_query(const struct exchange *exchange)
{
    const char *verb = exchange_query(exchange, "verb");
    return (struct decision_query){
        .namespace_ = exchange_query(exchange, "namespace"),
        .name = exchange_query(exchange, "name"),
        .node = exchange_query(exchange, "node"),
        .verb = verb ? decision_verb_of(verb) : N_DECISION_VERBS,
        .would_differ = reply_flag(exchange, "wouldDiffer"),
        .limit = (size_t)exchange_query_number(exchange, "limit", DECISIONS_KEEP_MAX),
    };
}

/* "3 fits, 2 gpu_free" */
static const char *verdicts_text(const json_t *verdicts, struct arena *arena)
{
    const char *text = "";
    const char *reason = NULL;
    json_t *n = NULL;
    json_object_foreach ((json_t *)(uintptr_t)verdicts, reason, n)
        text = arena_printf(arena, "%s%s%lld %s", text, *text ? ", " : "",
                            (long long)json_integer_value(n), reason);
    return text;
}

/* "h100-1 10 (0.25), h100-2 9 (0.5)": score and cost */
static const char *best_text(const json_t *best, struct arena *arena)
{
    const char *text = "";
    size_t i = 0;
    json_t *choice = NULL;
    json_array_foreach (best, i, choice)
        text = arena_printf(arena, "%s%s%s %s (%g)", text, *text ? ", " : "",
                            text_member(choice, "node"), text_number(choice, "score", arena),
                            (double)json_integer_value(json_object_get(choice, "costMillionths")) /
                                1e6);
    return text;
}

const char *decisions_json_outcome(const json_t *decision, struct arena *arena)
{
    const char *node = text_member(decision, "node");
    const char *error = text_member(decision, "error");
    const json_t *best = json_object_get(decision, "best");
    if (*node)
        return arena_printf(arena, "%s: %s", node, *error ? error : "bound");
    if (*error)
        return error;
    return json_array_size(best) > 0 ? best_text(best, arena)
                                     : verdicts_text(json_object_get(decision, "verdicts"), arena);
}

/* Only a wide table has milliseconds. */
static const char *time_text(const json_t *decision, bool wide, struct arena *arena)
{
    const char *time = text_member(decision, "time"); /* 2006-01-02T15:04:05.000Z */
    const char *of_day = strchr(time, 'T');
    if (wide || !of_day)
        return time;
    return arena_printf(arena, "%.*sZ", (int)(of_day - time) + 9, time);
}

void tables_write_decisions(const json_t *answer, bool wide, struct arena *arena, struct buf *out)
{
    static const char *const HEADINGS[] = {"TIME",
                                           "VERB",
                                           "POD",
                                           "ASKED",
                                           "ON",
                                           (TABLE_MAY_GO_LAST "TOOK"),
                                           (TABLE_MAY_GO "LEDGER"),
                                           "OUTCOME",
                                           NULL};
    struct table *table = table_new(arena, wide, HEADINGS);
    size_t i = 0;
    json_t *decision = NULL;
    text_write_warnings(answer, arena, out);
    json_array_foreach (json_object_get(answer, "decisions"), i, decision) {
        const json_t *pod = json_object_get(decision, "pod");
        table_add(table,
                  (const char *[]){time_text(decision, wide, arena), text_member(decision, "verb"),
                                   text_pod(pod, arena), text_number(decision, "nodesAsked", arena),
                                   text_number(decision, "nodesHandedOn", arena),
                                   arena_printf(arena, "%s us",
                                                text_number(decision, "tookMicroseconds", arena)),
                                   text_number(decision, "ledgerVersion", arena),
                                   decisions_json_outcome(decision, arena)});
    }
    if (json_integer_value(json_object_get(answer, "keep")) == 0)
        buf_add_text(out, "no decisions are kept: decisions.keep of the policy is 0\n\n");
    table_write(table, out);
}

static json_t *list_json(const struct api *api, const struct decision_query *query,
                         struct arena *arena)
{
    struct decision *found = NULL;
    const size_t n = decisions_find(api->decisions, query, arena, &found);
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        (void)json_array_append_new(list, decision_json(&found[i], arena));
    return list;
}

json_t *decisions_json_of(const struct api *api, const char *namespace_, struct arena *arena)
{
    const struct decision_query query = {
        .namespace_ = namespace_, .verb = N_DECISION_VERBS, .limit = DECISIONS_KEEP_MAX};
    return list_json(api, &query, arena);
}

bool decisions_json_are_here(const struct api *api, struct exchange *exchange)
{
    const char *elsewhere =
        api->elsewhere ? api->elsewhere(api->elsewhere_context, exchange_arena(exchange)) : NULL;
    if (elsewhere)
        exchange_answer_elsewhere(exchange, elsewhere);
    return !elsewhere;
}

void api_decisions(void *context, struct exchange *exchange)
{
    const struct api *api = context;
    if (!decisions_json_are_here(api, exchange))
        return;
    const struct decision_query query = read_query(exchange);
    json_t *list = list_json(api, &query, exchange_arena(exchange));
    json_t *answer = json_pack("{s:I, s:o}", "keep", (json_int_t)decisions_keep(api->decisions),
                               "decisions", list);
    query_names_add(api, exchange, answer);
    reply(exchange, answer, tables_write_decisions);
}
