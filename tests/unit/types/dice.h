/* dice: random numbers that are the same on every machine for the same seed (SplitMix64, Steele,
 * Lea and Flood 2014). */
#ifndef TYPES_DICE_H
#define TYPES_DICE_H

#include <stdbool.h>
#include <stdint.h>

struct dice {
    uint64_t state; /* the seed, to begin with */
};

uint64_t dice_next(struct dice *dice);
/* 0 .. n - 1 */
unsigned dice_below(struct dice *dice, unsigned n);
/* True once in n times. */
bool dice_one_in(struct dice *dice, unsigned n);

#endif
