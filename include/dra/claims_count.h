/*
 * claims_count: how many devices of the cluster a request may use, and which term of which selector
 * rules out the others. It says nothing about nodes, counts or constraints.
 *
 * Pure: no I/O, clock or lock.
 */
#ifndef DRA_CLAIMS_COUNT_H
#define DRA_CLAIMS_COUNT_H

#include "dra/device_copy.h"

/* A part of a selector that rules out devices. Each device counts for the first. */
struct claims_removal {
    bool is_of_class;
    size_t selector;  /* its index, in the class or in the request */
    const char *term; /* text: one of those that && joins */
    size_t n;         /* devices */
    /* Of those, the nearest value to what the term compares with. NULL: it compares with none. */
    const char *nearest;
};

/* A selector, of the class or of the request. */
struct claims_selector {
    size_t n_asked;    /* devices that pass those before it */
    size_t n_errors;   /* of these, those on which it fails */
    const char *error; /* on the first of them */
};

struct claims_count {
    size_t n_all, n_matching;
    size_t n_tainted; /* matching ones that a taint keeps off */
    size_t n_free; /* matching ones without such a taint that no claim uses; of admin access, all */
    const struct claims_removal *removals; /* the first CLAIMS_REMOVALS_MAX */
    size_t n_removals;
    size_t n_errors;                         /* devices on which a selector fails */
    const char *error;                       /* on one of them */
    const struct claims_selector *selectors; /* those of the class, then those of the request */
    /* Why the numbers are unknown, except n_all. NULL: they are known. */
    const char *not_judged;
    bool lacks_devices; /* n_all is unknown, too */
};
#define CLAIMS_REMOVALS_MAX 8

/* The devices that a request is counted over. */
struct claims_seen {
    const struct device_copy_kind *kinds;
    size_t n;
    const char *not_judged; /* why these are not all; NULL: they are */
};
/* The class of the want is known. *steps_left is lowered: at 0, the count is not judged. All in the
 * arena. */
struct claims_count claims_count(const struct allocate_want *want, const struct claims_seen *seen,
                                 uint64_t *steps_left, struct arena *arena);

#endif
