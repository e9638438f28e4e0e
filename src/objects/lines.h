/*
 * lines: a text_list that grows, in an arena, up to LINES_MAX; what comes after is counted only.
 */
#ifndef OBJECTS_LINES_H
#define OBJECTS_LINES_H

#include "objects/pod.h"

#define LINES_MAX 100

struct lines {
    struct arena *arena;
    const char *items[LINES_MAX];
    size_t n; /* may pass LINES_MAX */
};

void lines_add(struct lines *lines, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* All of them; where there were too many, the last one says how many are left out. */
struct text_list lines_list(struct lines *lines);

#endif
