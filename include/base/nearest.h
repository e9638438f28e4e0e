/*
 * nearest: did you mean ...? How far two words are from each other.
 */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stddef.h>

/* Characters to add, drop or replace to make one word of the other; case does not count. SIZE_MAX
 * where they are too far from each other for a slip of the fingers. */
size_t nearest_distance(const char *a, const char *b);

#endif
