/* sick_arrivals: see sick_priv.h. */
#include "base/mem.h"
#include "ledger/sick/sick_priv.h"

#include <stdlib.h>

void sick_arrivals_add(struct sick_arrivals *arrivals, const struct sick_bound *bound)
{
    if (HASH_COUNT(arrivals->first) >= SICK_ARRIVALS_MAX)
        sick_arrivals_remove(arrivals, arrivals->first);
    struct sick_bound *added = MEM_NEW(struct sick_bound);
    *added = *bound;
    sick_node_ref(added->node);
    HASH_ADD(hh, arrivals->first, uid, sizeof added->uid, added);
}

struct sick_bound *sick_arrivals_find(const struct sick_arrivals *arrivals, uint64_t uid)
{
    struct sick_bound *bound = NULL;
    HASH_FIND(hh, arrivals->first, &uid, sizeof uid, bound);
    return bound;
}

void sick_arrivals_remove(struct sick_arrivals *arrivals, struct sick_bound *bound)
{
    HASH_DEL(arrivals->first, bound);
    sick_node_unref(bound->node);
    free(bound);
}

void sick_arrivals_forget(struct sick_arrivals *arrivals, int64_t since_ms)
{
    while (arrivals->first && arrivals->first->at_ms < since_ms)
        sick_arrivals_remove(arrivals, arrivals->first);
}
