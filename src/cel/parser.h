/*
 * parser: what parser.c and macros.c share.
 */
#ifndef CEL_PARSER_H
#define CEL_PARSER_H

#include "lexer.h"

struct cel_parser {
    struct cel_lexer lexer;
    struct cel_token token; /* the next one */
    struct cel_fault *fault;
    unsigned depth;
    size_t n_nodes;
};

/* Arguments while they are read. */
struct cel_list {
    struct cel_node **items;
    size_t n, size;
};

/* NULL with the fault if there are too many nodes, or they are too deep, or an argument is NULL. */
struct cel_node *cel_new_node(struct cel_parser *parser, enum cel_node_kind kind, size_t at,
                              struct cel_list args);
void cel_list_add(struct cel_parser *parser, struct cel_list *list, struct cel_node *node);

/* macros.c: the call, or what stands for it. args[0] of a member call is its target. */
struct cel_node *cel_expand(struct cel_parser *parser, struct cel_node *call);

#endif
