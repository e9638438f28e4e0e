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
    const struct inventory_view view = inventory_read_settled(inventory);
    const struct fit_question question = {
        .shape = cluster_resolve(view.cluster, &args->pod.shape, arena),
        .scope = FIT_OURS,
        .own = cluster_find_reservation(view.cluster, args->pod.uid)};
    for (size_t i = 0; i < args->n_names; i++) {
        const struct node *node = cluster_find_node(view.cluster, args->names[i]);
        ranked[i].node = fit_judge(node, &question) == REASON_FITS ? node : NULL;
        ranked[i].position = i;
    }
    rank_nodes(view.cluster, &question, ranked, args->n_names);
    inventory_done(inventory);
}

/* HostPriorityList (contract 1.5). */
static void add_priorities(const struct args *args, const struct ranked_node *ranked,
                           struct buf *out)
{
    const char *separator = "";
    (void)buf_add_text(out, "[");
    for (size_t i = 0; i < args->n_names; i++) {
        (void)buf_add_text(out, separator);
        (void)buf_add_text(out, "{\"Host\":");
        (void)buf_add_quoted(out, args->names[ranked[i].position]);
        (void)buf_add_text(out, ",\"Score\":");
        (void)buf_add_decimal(out, ranked[i].score);
        (void)buf_add_text(out, "}");
        separator = ",";
    }
    (void)buf_add_text(out, "]");
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
    struct buf text;
    buf_init(&text, ANSWER_MAX_BYTES);
    if (args.pod.refusal || !inventory_usable(extender->inventory, &err)) {
        (void)buf_add_text(&text, "[]"); /* no opinion */
    } else {
        struct arena *arena = exchange_arena(exchange);
        struct ranked_node *ranked = ARENA_ARRAY(arena, struct ranked_node, args.n_names);
        rank(extender->inventory, &args, arena, ranked);
        add_priorities(&args, ranked, &text);
    }
    args_fini(&args);
    answer_text(exchange, &text);
}
