/* prioritize: which of these nodes is best? See include/extender/extender.h. */
#include "answer.h"
#include "args.h"
#include "core/fit.h"
#include "core/rank.h"
#include "extender/extender.h"

/* Ranks the nodes; ranked[i].position says which name it is. Nodes that the pod fits no more (they
 * may have changed since filter) come last. */
static void rank(struct inventory *inventory, const struct args *args, struct arena *arena,
                 struct ranked_node *ranked)
{
    const struct inventory_view view = inventory_read(inventory);
    const struct fit_question question = {
        .shape = cluster_resolve(view.cluster, &args->pod.shape, arena), .scope = FIT_OURS};
    for (size_t i = 0; i < args->n_names; i++) {
        const struct node *node = cluster_find_node(view.cluster, args->names[i]);
        ranked[i].node = fit_judge(node, &question) == REASON_FITS ? node : NULL;
        ranked[i].position = i;
    }
    rank_nodes(view.cluster, question.shape, ranked, args->n_names);
    inventory_done(inventory);
}

/* HostPriorityList (contract 1.5). */
static json_t *priorities(const struct args *args, const struct ranked_node *ranked)
{
    json_t *list = json_array();
    for (size_t i = 0; i < args->n_names; i++)
        (void)json_array_append_new(list,
                                    json_pack("{s:s, s:i}", "Host", args->names[ranked[i].position],
                                              "Score", ranked[i].score));
    return list;
}

void extender_prioritize(void *context, struct exchange *exchange)
{
    const struct extender *extender = context;
    struct err err;
    struct args args;
    if (args_init(&args, exchange, extender->policy, &err) < 0) {
        exchange_answer_error(exchange, 400, err.text);
        return;
    }
    if (args.pod.refusal || inventory_waiting_for(extender->inventory)) {
        args_fini(&args);
        answer_json(exchange, json_array()); /* no opinion */
        return;
    }
    struct arena *arena = exchange_arena(exchange);
    struct ranked_node *ranked = ARENA_ARRAY(arena, struct ranked_node, args.n_names);
    rank(extender->inventory, &args, arena, ranked);
    answer_json(exchange, priorities(&args, ranked));
    args_fini(&args);
}
