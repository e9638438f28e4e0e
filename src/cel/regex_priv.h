/*
 * regex_priv: the tree of a pattern, which regex_parse.c makes and regex.c compiles.
 */
#ifndef CEL_REGEX_PRIV_H
#define CEL_REGEX_PRIV_H

#include "literal.h"
#include "regex.h"

#define CEL_REGEX_DEPTH_MAX 60
#define CEL_REGEX_NODES_MAX 12000
#define CEL_POINT_MAX 0x10ffffU

enum regex_op {
    R_CLASS,
    R_BEGIN_TEXT,
    R_END_TEXT,
    R_BEGIN_LINE,
    R_END_LINE,
    R_WORD,
    R_NOT_WORD,
    R_CONCAT,
    R_ALTERNATE,
    R_REPEAT
};

struct regex_range {
    uint32_t from, to;
};

struct regex_class {
    struct regex_range *ranges;
    size_t n, size;
};

struct regex_node {
    enum regex_op op;
    struct regex_class class;
    bool is_counted; /* R_REPEAT: written as {} */
    int min, max;    /* of R_REPEAT; max -1: any number */
    struct regex_node **subs;
    size_t n_subs, size;
};

struct regex_parser {
    struct cel_text pattern;
    size_t at;
    bool fold_case, multi_line, dot_newline;
    unsigned depth;
    size_t n_nodes;
    struct arena *arena;
    enum cel_verdict verdict;
};

/* NULL with the verdict. */
struct regex_node *cel_regex_parse(struct regex_parser *parser);

/* regex_class.c: a class in brackets at '['; a class such as \d at the backslash (false: none); the
 * character of an escape. They set the verdict. */
void cel_regex_read_class(struct regex_parser *parser, struct regex_class *class);
bool cel_regex_read_perl_class(struct regex_parser *parser, struct regex_class *class);
uint32_t cel_regex_read_escape(struct regex_parser *parser);
/* Adds the range and, if case does not matter, what it folds to. */
void cel_regex_add_range(struct regex_parser *parser, struct regex_class *class, uint32_t from,
                         uint32_t to);
/* Returns 0 for convenience. */
uint32_t cel_regex_fail(struct regex_parser *parser, enum cel_verdict verdict);
/* The byte at an offset from the current place; 0 past the end. */
char cel_regex_peek(const struct regex_parser *parser, size_t offset);
bool cel_regex_is_at(const struct regex_parser *parser, const char *text);

#endif
