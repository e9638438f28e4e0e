/* byte_dice: see byte_dice.h. */
#include "byte_dice.h"

static const uint8_t *bytes;
static size_t n_left;

void byte_dice_start(const uint8_t *data, size_t size)
{
    bytes = data;
    n_left = size;
}

uint64_t dice_next(struct dice *dice)
{
    (void)dice;
    if (n_left == 0)
        return 0;
    n_left--;
    return *bytes++;
}

unsigned dice_below(struct dice *dice, unsigned n)
{
    return (unsigned)(dice_next(dice) % n);
}

bool dice_one_in(struct dice *dice, unsigned n)
{
    return dice_below(dice, n) == n - 1;
}

json_t *byte_dice_rest(void)
{
    return json_stringn((const char *)bytes, n_left);
}
