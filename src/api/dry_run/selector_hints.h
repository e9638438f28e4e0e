/*
 * selector_hints: what is probably meant by a selector that does not compile, errs, or matches no
 * device. Private to api.
 */
#ifndef API_DRY_RUN_SELECTOR_HINTS_H
#define API_DRY_RUN_SELECTOR_HINTS_H

#include "base/table.h"
#include "dra/claims_count.h"

/* An attribute or a capacity that some device has. */
struct published_name {
    UT_hash_handle hh; /* by kind, domain and name */
    const char *domain, *name;
    bool is_capacity;
    size_t n; /* on so many devices */
};

/* The devices that selectors are judged over. */
struct selector_view {
    struct claims_seen seen;
    size_t n_all;                 /* devices */
    struct published_name *names; /* by name; NULL: not looked up yet */
    bool is_hidden;               /* hints name nothing of the devices that the selector does not */
};

struct selector_view selector_view_of(struct claims_seen seen, bool is_hidden);
void selector_view_fini(struct selector_view *view);

/* After the message of the compiler; "" without a guess. */
const char *selector_hint_of_compiler(const char *expression, const char *message);
/* After an error on devices. */
const char *selector_hint_of_error(const struct cel_program *program, const char *message,
                                   struct selector_view *view, struct arena *arena);
/* Why a term is true of no device: the values that there are. */
const char *selector_hint_of_term(const struct cel_term *term, const struct selector_view *view,
                                  struct arena *arena);
/* A pattern that ends in a number and takes a longer number, too ("a10" for "A100"); NULL: none.
 * Charges what it evaluates to work_left, and ends when that is 0. */
const char *selector_hint_of_prefix(const struct cel_program *program, size_t i_term,
                                    const struct selector_view *view, uint64_t *work_left,
                                    struct arena *arena);

#endif
