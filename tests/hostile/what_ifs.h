/*
 * what_ifs: hostile bodies of POST /v1/what-if, and the objects of a tenant that they are about.
 */
#ifndef HOSTILE_WHAT_IFS_H
#define HOSTILE_WHAT_IFS_H

#include <jansson.h>
#include <stddef.h>

struct hostile_what_if {
    const char *name;
    const char *what;         /* the target, and the means */
    json_t *(*objects)(void); /* an array, in the cluster beside its nodes; NULL: none */
    char *(*body)(void);      /* free() it */
    unsigned status;          /* of the answer */
    double max_ms;            /* CPU time, in a sanitized build */
    size_t max_answer_bytes;
};

extern const struct hostile_what_if WHAT_IFS[];
extern const size_t N_WHAT_IFS;

#endif
