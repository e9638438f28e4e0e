/* in_force: see answer.h. */
#include "answer.h"

static void drop(void *policy)
{
    policy_drop(policy);
}

const struct policy *in_force(const struct extender *extender, struct exchange *exchange)
{
    const struct policy *policy = inventory_hold_policy(extender->inventory);
    exchange_on_end(exchange, drop, (void *)(uintptr_t)policy);
    return policy;
}
