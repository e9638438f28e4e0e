/* few: the first of many names, and how many more there are. Private to api. */
#ifndef API_FEW_H
#define API_FEW_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

#define FEW_SHOWN ((size_t)6)

struct few {
    const char *text; /* begins as "" */
    size_t n;
};

/* Whether further names are only counted; the name given to few_add() may be NULL then. */
bool few_is_full(const struct few *few);
void few_add(struct few *few, const char *name, struct arena *arena);
/* "a, b, c, d, e, f and 3 more" */
const char *few_text(const struct few *few, struct arena *arena);

#endif
