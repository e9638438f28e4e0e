/* tally: the slices of the highest generation among some, and whether these are all. */
#include "devices_priv.h"

void tally_add(struct tally *tally, const struct kept_slice *slice)
{
    if (tally->n > 0 && slice->generation < tally->generation)
        return;
    if (tally->n == 0 || slice->generation > tally->generation)
        *tally = (struct tally){.generation = slice->generation, .n_slices = slice->n_slices};
    tally->n++;
    tally->n_agreeing += slice->n_slices == tally->n_slices;
}

bool tally_remove(struct tally *tally, const struct kept_slice *slice)
{
    if (slice->generation < tally->generation)
        return false;
    tally->n--;
    tally->n_agreeing -= slice->n_slices == tally->n_slices;
    return tally->n_agreeing == 0;
}

bool tally_is_complete(const struct tally *tally)
{
    return tally->n > 0 && tally->n_agreeing == tally->n && (int64_t)tally->n == tally->n_slices;
}
