/* filter: which of these nodes may the pod run on? See include/extender/extender.h. */
#include "answer.h"
#include "args.h"
#include "core/fit.h"
#include "extender/extender.h"

/* One verdict a name, in their order. */
static void judge(struct inventory *inventory, const struct args *args, struct arena *arena,
                  enum reason *verdicts)
{
    const struct inventory_view view = inventory_read(inventory);
    const struct fit_question question = {
        .shape = cluster_resolve(view.cluster, &args->pod.shape, arena),
        .refusal = args->pod.refusal,
        .scope = FIT_OURS,
    };
    for (size_t i = 0; i < args->n_names; i++)
        verdicts[i] = fit_judge(cluster_find_node(view.cluster, args->names[i]), &question);
    inventory_done(inventory);
}

/* Everything we refuse is unresolvable: evicting pods through kube-scheduler's own accounting would
 * not help, and FailedNodes would make it try (contract 5). */
static json_t *failed_nodes(const struct args *args, const enum reason *verdicts,
                            struct arena *arena)
{
    json_t *failed = json_object();
    const char *refusal =
        args->pod.refusal ? arena_printf(arena, "gpu-extender: %s", args->pod.refusal) : NULL;
    for (size_t i = 0; i < args->n_names; i++) {
        if (verdicts[i] == REASON_FITS)
            continue;
        const char *message =
            verdicts[i] == REASON_POD_INVALID ? refusal : reason_message(verdicts[i]);
        (void)json_object_set_new(failed, args->names[i], json_string(message));
    }
    return failed;
}

static json_t *fitting_names(const struct args *args, const enum reason *verdicts)
{
    json_t *names = json_array();
    for (size_t i = 0; i < args->n_names; i++) {
        if (verdicts[i] == REASON_FITS)
            (void)json_array_append_new(names, json_string(args->names[i]));
    }
    return names;
}

static json_t *fitting_nodes(const struct args *args, const enum reason *verdicts)
{
    json_t *items = json_array();
    for (size_t i = 0; i < args->n_names; i++) {
        if (verdicts[i] == REASON_FITS)
            (void)json_array_append(items, json_array_get(args->nodes, i));
    }
    return json_pack("{s:{}, s:o}", "metadata", "items", items);
}

/* ExtenderFilterResult, in the form in which the nodes came (contract 1.4). */
static json_t *result(const struct args *args, const enum reason *verdicts, struct arena *arena)
{
    const bool cached = !args->has_nodes;
    return json_pack(
        "{s:o, s:o, s:{}, s:o, s:s}", "Nodes", cached ? json_null() : fitting_nodes(args, verdicts),
        "NodeNames", cached ? fitting_names(args, verdicts) : json_null(), "FailedNodes",
        "FailedAndUnresolvableNodes", failed_nodes(args, verdicts, arena), "Error", "");
}

void extender_filter(void *context, struct exchange *exchange)
{
    const struct extender *extender = context;
    struct arena *arena = exchange_arena(exchange);
    struct err err;
    const char *waiting_for = inventory_waiting_for(extender->inventory);
    if (waiting_for) {
        answer_scheduler_error(
            exchange, arena_printf(arena, "gpu-extender: not ready: waiting for %s", waiting_for));
        return;
    }
    struct args args;
    if (args_init(&args, exchange, extender->policy, &err) < 0) {
        answer_scheduler_error(exchange, err.text);
        return;
    }
    enum reason *verdicts = ARENA_ARRAY(arena, enum reason, args.n_names);
    judge(extender->inventory, &args, arena, verdicts);
    answer_json(exchange, result(&args, verdicts, arena));
    args_fini(&args);
}
