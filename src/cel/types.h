/*
 * types: the types of the checker and their unification (cel-go's checker/types.go).
 */
#ifndef CEL_TYPES_H
#define CEL_TYPES_H

#include "base/buf.h"
#include "cel_priv.h"

struct cel_types {
    struct cel_fault *fault;
    const struct cel_type **bound; /* what stands for a variable; NULL: nothing */
    unsigned n_vars, size;
    unsigned *trail; /* variables in the order in which they were bound or changed */
    const struct cel_type **trail_old;
    size_t n_trail, trail_size;
    size_t n_steps;
};

const struct cel_type *cel_simple_type(enum cel_kind kind);
const struct cel_type *cel_new_type(struct cel_types *types, enum cel_kind kind,
                                    const struct cel_type *a, const struct cel_type *b);
const struct cel_type *cel_new_var(struct cel_types *types);
/* Replaces bound variables; with to_dyn, unbound ones become dyn. */
const struct cel_type *cel_substitute(struct cel_types *types, const struct cel_type *type,
                                      bool to_dyn);
/* Whether each from[i] is assignable to to[i]. If not, no variable changes. */
bool cel_assignable(struct cel_types *types, const struct cel_type *const *from,
                    const struct cel_type *const *to, size_t n);
const struct cel_type *cel_most_general(struct cel_types *types, const struct cel_type *a,
                                        const struct cel_type *b);
bool cel_is_same_type(struct cel_types *types, const struct cel_type *a, const struct cel_type *b);
bool cel_is_dyn(const struct cel_type *type);
void cel_format_type(struct buf *buf, const struct cel_type *type);

#endif
