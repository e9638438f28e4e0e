/*
 * functions: the functions of upstream's environment: signatures of those that are evaluated here,
 * and the names of the others.
 */
#ifndef CEL_FUNCTIONS_H
#define CEL_FUNCTIONS_H

#include "base/buf.h"
#include "cel_priv.h"

/* The types of the checker and their unification (cel-go's checker/types.go). */
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

#define CEL_ARGS_MAX 4

enum cel_function {
    F_CONDITIONAL,
    F_NOT,
    F_NEGATE,
    F_EQUAL,
    F_NOT_EQUAL,
    F_ADD,
    F_SUBTRACT,
    F_MULTIPLY,
    F_DIVIDE,
    F_MODULO,
    F_LESS,
    F_LESS_EQUAL,
    F_GREATER,
    F_GREATER_EQUAL,
    F_INDEX,
    F_OPT_INDEX,
    F_IN,
    F_SIZE,
    F_DYN,
    F_INT,
    F_DOUBLE,
    F_STRING,
    F_BOOL,
    F_CONTAINS,
    F_ENDS_WITH,
    F_STARTS_WITH,
    F_MATCHES,
    F_LOWER,
    F_UPPER,
    F_SPLIT,
    F_REPLACE,
    F_SUBSTRING,
    F_TRIM,
    F_INDEX_OF,
    F_JOIN,
    F_CHAR_AT,
    F_QUANTITY,
    F_IS_QUANTITY,
    F_SEMVER,
    F_IS_SEMVER,
    F_MAJOR,
    F_MINOR,
    F_PATCH,
    F_IS_GREATER,
    F_IS_LESS,
    F_COMPARE_TO,
    F_OPTIONAL_NONE,
    F_OPTIONAL_OF,
    F_OR,
    F_OR_VALUE,
    F_HAS_VALUE,
    F_VALUE,
    N_FUNCTIONS
};

/* An overload with fresh variables. */
struct cel_overload {
    bool is_member;
    size_t n_args;
    const struct cel_type *args[CEL_ARGS_MAX];
    const struct cel_type *result;
};

/* The function of that name; -1: not evaluated here. */
int cel_find_function(struct cel_text name);
/* Whether upstream declares a function of that name. */
bool cel_is_declared(struct cel_text name);
/* Whether the name is one of upstream's types. */
bool cel_is_type_name(struct cel_text name);
/* The overload i of a function; false past the last. Skips none: its arity may not be that of the
 * call. */
bool cel_overload_at(struct cel_types *types, int function, size_t i, struct cel_overload *ret);

#endif
