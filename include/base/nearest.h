/*
 * nearest: the distance between two words, for "did you mean ...?".
 */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stddef.h>

/* The number of characters to add, drop or replace to turn one word into the other, ignoring case.
 * SIZE_MAX if that is too many for a typing error. */
size_t nearest_distance(const char *a, const char *b);

#endif
