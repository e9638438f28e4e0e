/*
 * cel_priv: the parts of cel/: syntax tree, types, values, and the state of compiling and
 * evaluating.
 */
#ifndef CEL_CEL_PRIV_H
#define CEL_CEL_PRIV_H

#include "cel/cel.h"

#include <stdarg.h>
#include <stdint.h>

/* Beyond these, an expression is not judged. Upstream's parser gives up at a depth of 250. */
#define CEL_DEPTH_MAX 48
#define CEL_NODES_MAX 2000
#define CEL_TYPE_STEPS_MAX 200000
/* Half of resourceapi.CELSelectorExpressionMaxCost. Ours counts at least what upstream counts. */
#define CEL_COST_MAX 500000
#define CEL_VALUES_BYTES_MAX (1U << 20)

/* Bytes, not terminated. */
struct cel_text {
    const char *bytes;
    size_t len;
};
#define CEL_TEXT(literal) ((struct cel_text){(literal), sizeof(literal) - 1})

bool cel_text_is(struct cel_text text, const char *other);
bool cel_text_equal(struct cel_text a, struct cel_text b);
/* As strings.Compare. */
int cel_text_compare(struct cel_text a, struct cel_text b);

/* Why a verdict was reached; the first one counts. */
struct cel_fault {
    enum cel_verdict verdict; /* CEL_VALID: none */
    const char *message;
    struct arena *arena;
    struct cel_text source;
};
/* They return false for convenience. The second one says where, with upstream's prefix. */
bool cel_invalid(struct cel_fault *fault, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool cel_invalid_at(struct cel_fault *fault, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool cel_not_judged(struct cel_fault *fault, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

enum cel_kind {
    K_ERROR,
    K_DYN,
    K_ANY,
    K_NULL,
    K_BOOL,
    K_INT,
    K_UINT,
    K_DOUBLE,
    K_STRING,
    K_QUANTITY,
    K_SEMVER,
    K_DEVICE,
    K_LIST,
    K_MAP,
    K_OPTIONAL,
    K_VAR
};

struct cel_type {
    enum cel_kind kind;
    unsigned var;                 /* of K_VAR */
    const struct cel_type *of[2]; /* of lists, maps, optionals */
};

struct cel_quantity {
    int64_t whole; /* rounded down */
    int32_t nano;  /* 0 to 999,999,999 */
};

/* A part of a prerelease: a number if text is empty. */
struct cel_prerelease {
    struct cel_text text;
    uint64_t number;
};
struct cel_semver {
    uint64_t major, minor, patch;
    const struct cel_prerelease *prereleases;
    size_t n_prereleases;
};

enum cel_value_kind {
    V_ERROR,
    V_NULL,
    V_BOOL,
    V_INT,
    V_UINT,
    V_DOUBLE,
    V_STRING,
    V_QUANTITY,
    V_SEMVER,
    V_LIST,
    V_OPTIONAL,
    V_DEVICE,
    V_DOMAINS, /* device.attributes, device.capacity */
    V_FACTS    /* of one domain */
};

struct cel_value {
    enum cel_value_kind kind;
    bool is_capacity; /* of V_DOMAINS, V_FACTS */
    union {
        bool boolean;
        int64_t integer;
        uint64_t natural;
        double real;
        struct cel_text text; /* V_STRING; the message of V_ERROR; the domain of V_FACTS */
        struct cel_quantity quantity;
        const struct cel_semver *semver;
        struct {
            const struct cel_value *items;
            size_t n;
        } list;
        const struct cel_value *some; /* of V_OPTIONAL; NULL: none */
    };
};

enum cel_node_kind {
    N_CONST,
    N_IDENT,
    N_SELECT, /* args[0].name; is_optional: .? ; is_test: has() */
    N_CALL,   /* name(args); is_member: args[0] is the target */
    N_AND,
    N_OR,
    N_LIST,
    N_FOLD,   /* args: range, body, and for the map with a filter: filter, body */
    N_BIND,   /* args: value, body */
    N_UNKNOWN /* parsed, but not judged: name says what */
};

enum cel_fold { FOLD_ALL, FOLD_EXISTS, FOLD_EXISTS_ONE, FOLD_MAP, FOLD_FILTER };

struct cel_regex;

struct cel_node {
    enum cel_node_kind kind;
    enum cel_fold fold;
    bool is_optional, is_test, is_member;
    unsigned depth;
    size_t at;            /* offset in the expression */
    struct cel_text name; /* identifier, field, function, variable */
    struct cel_node **args;
    size_t n_args;
    struct cel_value constant;
    const struct cel_type *type;
    int function;                  /* of a call: enum cel_function */
    const struct cel_regex *regex; /* of matches() with a constant pattern */
};

struct cel_kept_term {
    const struct cel_node *node;
    struct cel_term shown;
};

struct cel_program {
    struct cel_fault fault;
    const char *expression;
    struct cel_node *root;
    struct cel_read *reads;
    size_t n_reads;
    struct cel_kept_term *terms;
    size_t n_terms;
};

/* parser.c: NULL if there is a fault. */
struct cel_node *cel_parse(struct cel_text source, struct cel_fault *fault);

/* checker.c: sets types and functions. False if there is a fault. */
bool cel_check(struct cel_node *root, struct cel_fault *fault);
/* validate.c: what upstream checks after types: literals of lists, patterns, and conversions that
 * it computes in advance. */
bool cel_validate(struct cel_node *root, struct cel_fault *fault);
/* Whether upstream computes the node when it compiles. */
bool cel_is_constant(const struct cel_node *node);

/* cost.c: at least what upstream estimates. The root must be checked. */
uint64_t cel_cost_bound(const struct cel_node *root);

/* reads.c */
void cel_find_reads(struct cel_program *program, struct arena *arena);
void cel_find_terms(struct cel_program *program, struct arena *arena);

/* A name that is bound by a macro. */
struct cel_scope {
    struct cel_text name;
    const struct cel_value *value; /* NULL: not computed yet */
    struct cel_node *lazy;
    struct cel_scope *outer;
};

struct cel_run {
    const struct cel_device *device;
    struct arena *arena;
    struct cel_fault stop; /* ends the run: not judged, or an error that nothing absorbs */
    uint64_t cost;
    size_t bytes;
    struct cel_scope *scope;
    const struct cel_value *facts; /* of the device, in its order */
};

/* evaluate.c */
struct cel_value cel_run_node(struct cel_run *run, const struct cel_node *node);
/* Counts work; false, with a stop, if it is too much. */
bool cel_spend(struct cel_run *run, uint64_t cost);
/* Memory of values; NULL, with a stop, if it is too much. */
void *cel_take(struct cel_run *run, size_t bytes);
struct cel_value cel_error(struct cel_run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
struct cel_value cel_stop(struct cel_run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
struct cel_value cel_bool(bool boolean);
struct cel_value cel_int(int64_t integer);
struct cel_value cel_string(struct cel_text text);
struct cel_value cel_optional(struct cel_run *run, struct cel_value value);
/* The name of a type in upstream's messages. */
const char *cel_type_name(const struct cel_value *value);

/* values.c */
/* One line of text in the arena: an answer carries it. */
const char *cel_format(struct arena *arena, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
/* types.Equal of cel-go: true, false, or an error. */
struct cel_value cel_equal(struct cel_run *run, struct cel_value a, struct cel_value b);
/* -1, 0, 1 as V_INT; an error if the two cannot be compared. */
struct cel_value cel_compare(struct cel_run *run, struct cel_value a, struct cel_value b);
struct cel_value cel_contains(struct cel_run *run, struct cel_value item, struct cel_value list,
                              bool is_constant);

/* lookup.c: maps, lists and optionals by key. */
struct cel_value cel_lookup(struct cel_run *run, struct cel_value object, struct cel_value key,
                            bool is_optional);
/* has(): whether the field is there. */
struct cel_value cel_has(struct cel_run *run, struct cel_value object, struct cel_text field);
size_t cel_map_size(const struct cel_run *run, const struct cel_value *map);
/* The keys, each once. */
struct cel_value cel_map_keys(struct cel_run *run, const struct cel_value *map);
bool cel_map_has(const struct cel_run *run, const struct cel_value *map, struct cel_value key);

/* calls.c: arguments are not errors. */
struct cel_value cel_call(struct cel_run *run, const struct cel_node *node,
                          const struct cel_value *args);
/* strings.c */
struct cel_value cel_string_call(struct cel_run *run, const struct cel_node *node,
                                 const struct cel_value *args);
/* "no such overload: name(type, type)". */
struct cel_value cel_no_overload(struct cel_run *run, const struct cel_node *node,
                                 const struct cel_value *args);

/* exact.c: resource.ParseQuantity and semver.Parse. NULL: parsed; else upstream's message.
 * *ret_is_judged is false where this parser gives up. */
const char *cel_quantity_parse(struct cel_text text, struct cel_quantity *ret, bool *ret_is_judged);
int cel_quantity_compare(struct cel_quantity a, struct cel_quantity b);
const char *cel_semver_parse(struct cel_text text, struct arena *arena, struct cel_semver *ret);
/* Drops a "v" and leading zeros, and fills up to three numbers. */
const char *cel_semver_normalize(struct cel_text text, struct arena *arena, struct cel_text *ret);
int cel_semver_compare(const struct cel_semver *a, const struct cel_semver *b);

#endif
