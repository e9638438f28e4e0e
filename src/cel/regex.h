/*
 * regex: patterns of RE2's syntax, as Go's regexp reads them, matched in linear time (Thompson,
 * Pike). Unicode classes, and letters beyond ASCII without case, are not judged.
 */
#ifndef CEL_REGEX_H
#define CEL_REGEX_H

#include "cel_priv.h"
#include "lexer.h"

/* Go repeats at most 1,000 times, and so do we; instructions are ours. */
#define CEL_REGEX_REPEAT_MAX 1000
#define CEL_REGEX_INSTRUCTIONS_MAX 2000

struct cel_regex;

/* NULL if *ret_verdict is not CEL_VALID. */
const struct cel_regex *cel_regex_compile(struct cel_text pattern, struct arena *arena,
                                          enum cel_verdict *ret_verdict);
/* Whether the pattern is found anywhere in the text. Work: instructions times bytes. */
bool cel_regex_match(const struct cel_regex *regex, struct cel_text text, struct arena *arena);
size_t cel_regex_size(const struct cel_regex *regex);

/* The tree of a pattern, which regex_parse.c makes and regex.c compiles. */

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

#endif
