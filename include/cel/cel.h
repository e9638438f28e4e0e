/*
 * cel: judges the CEL selectors of device requests and classes, as kube-scheduler 1.36 does.
 *
 * It parses the whole grammar, checks types, and evaluates the functions that selectors use. A
 * verdict equals that of k8s.io/dynamic-resource-allocation/cel ("upstream"). Where that cannot be
 * ensured, the verdict is CEL_NOT_JUDGED and the message names the cause. tests/cel compares the
 * two. Source: cel-spec's langdef.md, cel-go 0.26, k8s.io/apiserver/pkg/cel/library.
 *
 * Expressions are untrusted. Their length, depth, number of nodes, work and memory are bounded.
 * Beyond a bound they are not judged. Pure: no I/O, clock or lock.
 */
#ifndef CEL_CEL_H
#define CEL_CEL_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The API server's own limit: resourceapi.CELSelectorExpressionMaxLength. */
#define CEL_LENGTH_MAX 10240

enum cel_verdict {
    CEL_VALID,     /* it compiles; cel_answer: it has a value */
    CEL_INVALID,   /* it does not compile; cel_answer: it fails at run time */
    CEL_NOT_JUDGED /* not supported here, or beyond a bound */
};

struct cel_program;

/* Lives as long as the arena, and borrows nothing. */
struct cel_program *cel_compile(const char *expression, struct arena *arena)
    __attribute__((returns_nonnull));
enum cel_verdict cel_verdict(const struct cel_program *program);
/* Upstream's error, or why it is not judged. "" if valid. */
const char *cel_message(const struct cel_program *program);

enum cel_fact_kind { CEL_BOOL, CEL_INT, CEL_STRING, CEL_VERSION, CEL_QUANTITY };

/* An attribute of a device or, with CEL_QUANTITY, a capacity. */
struct cel_fact {
    const char *domain; /* the part before the slash of its name, else the driver */
    const char *name;
    enum cel_fact_kind kind;
    bool boolean;
    int64_t integer;
    const char *text; /* string, version or quantity as written */
};

struct cel_device {
    const char *driver;
    bool allows_multiple; /* allowMultipleAllocations */
    /* Name of an attribute whose type 1.36 does not support. NULL: none. */
    const char *unsupported;
    const struct cel_fact *facts;
    size_t n_facts;
};

struct cel_answer {
    enum cel_verdict verdict;
    bool value;          /* if valid */
    const char *message; /* upstream's error, or why it is not judged; in the arena */
    uint64_t cost;       /* work done, in steps */
};

/* Judges one device. The program must be valid. */
struct cel_answer cel_evaluate(const struct cel_program *program, const struct cel_device *device,
                               struct arena *arena);

/* The texts of the parts that the outermost && join; of another expression, its own. The expression
 * is true only if each is. The program must be valid. In the arena. */
const char *const *cel_conjuncts(const struct cel_program *program, struct arena *arena,
                                 size_t *ret_n);
/* The driver that all devices have for which the expression is true: the first of its
 * parts is `device.driver == "NAME"`. In the arena; "": not known. The expression may be invalid.
 */
const char *cel_driver(const char *expression, struct arena *arena);

/* A part of a device that an expression reads: a fact, whether a domain has facts (name ""), all
 * facts of a domain (name NULL), or all facts (domain NULL). The driver and
 * allowMultipleAllocations may be read, too. Devices that agree in these get the same answer. */
struct cel_read {
    bool is_capacity;
    const char *domain, *name;
};
/* The program must be valid. */
const struct cel_read *cel_reads(const struct cel_program *program, size_t *ret_n);

/* A comparison of one fact with a literal. The expression is true only if the comparison is. */
enum cel_term_kind {
    CEL_TERM_EQUAL,   /* == */
    CEL_TERM_TEXT,    /* matches, contains, startsWith, endsWith */
    CEL_TERM_QUANTITY /* comparisons with quantity(), such as compareTo */
};
struct cel_term {
    enum cel_term_kind kind;
    struct cel_read read;
    const char *literal;
};
/* The program must be valid. i is below cel_n_terms(). */
size_t cel_n_terms(const struct cel_program *program);
struct cel_term cel_term(const struct cel_program *program, size_t i);
struct cel_answer cel_evaluate_term(const struct cel_program *program, size_t i,
                                    const struct cel_device *device, struct arena *arena);

#endif
