/*
 * groups: the groups of pods that wait to be bound together, as last looked at: extender/ writes,
 * api/ reads. groups.lock guards the list. Callers pass the time, milliseconds since 1970.
 */
#ifndef RECORD_GROUPS_H
#define RECORD_GROUPS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct waiting_group {
    const char *namespace_, *name;
    const char *state;  /* "waiting" */
    bool is_ordinary;   /* its pods are scheduled as any others: it is only observed, or given up */
    const char *lacks;  /* "the fourth lacks 8 H100", of the last attempt; "": unknown */
    size_t n_fit;       /* of the missing members that would fit, before that one; all: not in one
                           domain, as `lacks` says */
    const char *nodes;  /* "a, b", of its plan; "": none */
    const char *missed; /* the node that kube-scheduler did not offer in its last plan; "": none */
    size_t size, n_bound, n_unbound, n_planned;
    const char *why;       /* it waits: a word; "": it does not */
    const char *text;      /* the same for users */
    int64_t tried_ms;      /* of the last attempt; 0: none, or now */
    int64_t since_ms;      /* when it was first seen; 0: not yet */
    int64_t partial_ms;    /* since when some are bound; 0: none is */
    int64_t not_before_ms; /* no plan is made before; 0: no pause */
    int64_t plan_ends_ms;  /* 0: no plan */
};

struct groups;

struct groups *groups_new(void);
void groups_free(struct groups *groups);
/* Replaces all rows, which are copied. */
void groups_set(struct groups *groups, const struct waiting_group *rows, size_t n);
/* Sorted by namespace and name; namespace_ NULL: all. In the arena. */
size_t groups_list(struct groups *groups, const char *namespace_, struct arena *arena,
                   struct waiting_group **ret_rows);
/* A number that differs once the rows may have changed. */
uint64_t groups_edition(struct groups *groups);

#endif
