/*
 * byte_dice: dice.h by the bytes of an input, one a throw, in place of dice.c. Beyond the end, each
 * throw is 0, and what is one in some is not.
 */
#ifndef FUZZ_BYTE_DICE_H
#define FUZZ_BYTE_DICE_H

#include "dice.h"

#include <jansson.h>
#include <stddef.h>

void byte_dice_start(const uint8_t *data, size_t size);
/* The bytes that are left; NULL: they are no UTF-8. A new reference. */
json_t *byte_dice_rest(void);

#endif
