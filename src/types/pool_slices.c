/* pool_slices: see include/types/pool_slices.h. */
#include "types/pool_slices.h"

void pool_slices_add(struct pool_slices *slices, int64_t generation, int64_t n_slices)
{
    if (slices->n > 0 && generation < slices->generation)
        return;
    if (slices->n == 0 || generation > slices->generation)
        *slices = (struct pool_slices){.generation = generation, .n_slices = n_slices};
    slices->n++;
    slices->disagree |= n_slices != slices->n_slices;
}

enum pool_slices_state pool_slices_state(const struct pool_slices *here,
                                         const struct pool_slices *all)
{
    if (here->n == 0)
        return POOL_SLICES_NONE;
    if (here->disagree)
        return POOL_SLICES_DISAGREE;
    if ((int64_t)here->n == here->n_slices)
        return POOL_SLICES_COMPLETE;
    if (all->generation > here->generation)
        return POOL_SLICES_NONE;
    return (int64_t)all->n == here->n_slices ? POOL_SLICES_COMPLETE : POOL_SLICES_INCOMPLETE;
}
