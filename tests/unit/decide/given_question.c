/* given_question: see given_question.h. */
#include "given_question.h"
#include "unit.h"

enum reserve_verdict given_reserve(struct given *given, const char *uid, const char *node,
                                   struct reserve_result *ret_result)
{
    struct reserve_result result = {0};
    const struct reserve_question question = {.uid = uid, .node_name = node};
    enum reserve_verdict verdict =
        reserve_room(given->cluster, &question, ret_result ? ret_result : &result);
    given_check(given);
    return verdict;
}

void given_reservation(struct given *given, const char *uid, const char *node)
{
    if (given_reserve(given, uid, node, NULL) != RESERVE_HELD)
        fail_msg("no room is held for %s on %s", uid, node);
}

struct fit_question given_question(struct given *given, const struct shape_facts *facts)
{
    return (struct fit_question){.shape = given_resolved(given, facts), .scope = FIT_ALL};
}

const char *given_verdict(struct given *given, const char *node, const char *demand)
{
    const struct shape_facts facts = given_shape_facts(given, demand);
    const struct fit_question question = given_question(given, &facts);
    return reason_name(fit_judge(cluster_find_node(given->cluster, node), &question));
}
