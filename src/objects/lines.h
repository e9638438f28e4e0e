/*
 * lines: collects lines of text, of which the first are kept and the others counted.
 */
#ifndef OBJECTS_LINES_H
#define OBJECTS_LINES_H

#include "base/arena.h"
#include "objects/pod.h"

#define LINES_MAX 100

/* Initialise with {.arena = arena}. */
struct lines {
    struct arena *arena;
    const char *items[LINES_MAX];
    size_t n; /* may exceed LINES_MAX */
};

void lines_add(struct lines *lines, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* In the arena. With too many lines, the last one gives the number left out. */
struct text_list lines_list(struct lines *lines);

#endif
