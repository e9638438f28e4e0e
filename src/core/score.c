/* score: the table of placement policies. See include/core/score.h. */
#include "core/score.h"

static score_cost *const COSTS[N_PLACEMENT_POLICIES] = {
    [PLACEMENT_BINPACK] = score_binpack,
};

score_cost *score_cost_of(enum placement_policy placement)
{
    return COSTS[placement];
}
