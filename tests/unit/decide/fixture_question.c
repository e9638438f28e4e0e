/* fixture_question: see fixture_question.h. */
#include "fixture_question.h"
#include "unit.h"

enum reserve_verdict fixture_reserve(struct fixture *fixture, const char *uid, const char *node,
                                     struct reserve_result *ret_result)
{
    struct reserve_result result = {0};
    const struct reserve_question question = {.uid = uid, .node_name = node};
    enum reserve_verdict verdict =
        reserve_room(fixture->cluster, &question, ret_result ? ret_result : &result);
    fixture_check(fixture);
    return verdict;
}

void fixture_must_reserve(struct fixture *fixture, const char *uid, const char *node)
{
    if (fixture_reserve(fixture, uid, node, NULL) != RESERVE_HELD)
        fail_msg("no room is held for %s on %s", uid, node);
}

struct fit_question fixture_question(struct fixture *fixture, const struct shape_facts *facts)
{
    return (struct fit_question){.shape = fixture_resolve(fixture, facts), .scope = FIT_ALL};
}

const char *fixture_verdict(struct fixture *fixture, const char *node, const char *demand)
{
    const struct shape_facts facts = fixture_shape_facts(fixture, demand);
    const struct fit_question question = fixture_question(fixture, &facts);
    return reason_name(fit_judge(cluster_find_node(fixture->cluster, node), &question));
}
