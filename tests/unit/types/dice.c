/* dice: see dice.h. */
#include "dice.h"

#include <stdlib.h>

uint64_t dice_next(struct dice *dice)
{
    uint64_t z = (dice->state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

unsigned dice_below(struct dice *dice, unsigned n)
{
    return (unsigned)(dice_next(dice) % n);
}

bool dice_one_in(struct dice *dice, unsigned n)
{
    return dice_below(dice, n) == 0;
}

uint64_t dice_number_from(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);
    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}
