/* dice: random numbers, equal on every machine for equal seeds (SplitMix64, Steele, Lea and Flood
 * 2014). */
#ifndef TYPES_DICE_H
#define TYPES_DICE_H

#include <stdbool.h>
#include <stdint.h>

struct dice {
    uint64_t state; /* initialize with the seed */
};

uint64_t dice_next(struct dice *dice);
/* 0 .. n - 1 */
unsigned dice_below(struct dice *dice, unsigned n);
/* True once in n times. */
bool dice_one_in(struct dice *dice, unsigned n);
/* The number in this variable of the environment: another seed, or more rounds. Without one:
 * otherwise. */
uint64_t dice_number_from(const char *variable, uint64_t otherwise);

#endif
