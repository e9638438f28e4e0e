/*
 * bodies: hostile texts of many small values: bodies of requests, and a page of pods from the API
 * server; and questions with large answers. Bytes of memory are bounded, whatever the text.
 */
#ifndef HOSTILE_BODIES_H
#define HOSTILE_BODIES_H

#include <stddef.h>

enum hostile_reader {
    READ_DRY_RUN,
    READ_DRY_RUN_TABLE,
    READ_DRY_RUN_OBJECT,
    READ_WHAT_IF,
    READ_FILTER,
    READ_PREEMPT,
    READ_PODS,
};

struct hostile_body {
    const char *name;
    const char *what; /* the target, and the means */
    enum hostile_reader reader;
    /* The text: head, then the part again and again, then tail. */
    const char *head, *part, *tail;
    size_t n_bytes;
    size_t n_objects; /* READ_PODS: so many of these are in the list */
    unsigned status;  /* of the answer; 0: READ_PODS */
    const char *says; /* in the answer; NULL: READ_PODS */
    double max_bytes; /* of all that is allocated at a time while it is read, beside the text */
    size_t n_nodes;   /* of the cluster; 0: ATTACKED_NODES */
};

extern const struct hostile_body BODIES[];
extern const size_t N_BODIES;

/* The text; free() it. */
char *bodies_text(const struct hostile_body *body);

#endif
