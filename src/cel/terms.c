/*
 * terms: comparisons of a fact with a literal that all devices must pass: those that && joins.
 */
#include "functions.h"
#include "paths.h"

#include <string.h>

struct term_finder {
    struct cel_program *program;
    struct arena *arena;
    size_t size;
};

static const struct cel_node *without_case(const struct cel_node *node)
{
    bool folds = node->kind == N_CALL && (node->function == F_LOWER || node->function == F_UPPER);
    return folds ? node->args[0] : node;
}

static bool is_text(const struct cel_node *node)
{
    return node->kind == N_CONST && node->constant.kind == V_STRING;
}

/* quantity("40Gi"). */
static bool is_quantity(const struct cel_node *node)
{
    return node->kind == N_CALL && node->function == F_QUANTITY && is_text(node->args[0]);
}

static void add(struct term_finder *finder, const struct cel_node *node, enum cel_term_kind kind,
                const struct cel_path *path, struct cel_text literal)
{
    struct cel_program *program = finder->program;
    struct arena *arena = finder->arena;
    if (path->depth != 2)
        return;
    program->terms =
        arena_grow(arena, program->terms, program->n_terms, &finder->size, sizeof *program->terms);
    program->terms[program->n_terms++] = (struct cel_kept_term){
        .node = node,
        .shown = {.kind = kind,
                  .read = {path->is_capacity,
                           arena_strndup(arena, path->domain.bytes, path->domain.len),
                           arena_strndup(arena, path->name.bytes, path->name.len)},
                  .literal = arena_strndup(arena, literal.bytes, literal.len)}};
}

/* A comparison with a text on either side. */
static void add_equal(struct term_finder *finder, const struct cel_node *node,
                      const struct cel_alias *aliases)
{
    struct cel_path path;
    for (size_t i = 0; i < 2; i++)
        if (is_text(node->args[i]) && cel_path_of(without_case(node->args[1 - i]), aliases, &path))
            add(finder, node, CEL_TERM_EQUAL, &path, node->args[i]->constant.text);
}

static void add_text(struct term_finder *finder, const struct cel_node *node,
                     const struct cel_alias *aliases)
{
    struct cel_path path;
    if (is_text(node->args[1]) && cel_path_of(without_case(node->args[0]), aliases, &path))
        add(finder, node, CEL_TERM_TEXT, &path, node->args[1]->constant.text);
}

/* x.isGreaterThan(quantity("1")), or the same of a comparison of x.compareTo(). */
static void add_quantity(struct term_finder *finder, const struct cel_node *term,
                         const struct cel_node *node, const struct cel_alias *aliases)
{
    struct cel_path path;
    bool compares =
        node->kind == N_CALL && node->function >= F_IS_GREATER && node->function <= F_COMPARE_TO;
    if (compares && is_quantity(node->args[1]) && cel_path_of(node->args[0], aliases, &path))
        add(finder, term, CEL_TERM_QUANTITY, &path, node->args[1]->args[0]->constant.text);
}

static void find(struct term_finder *finder, const struct cel_node *node,
                 const struct cel_alias *aliases)
{
    if (node->kind == N_AND) {
        for (size_t i = 0; i < node->n_args; i++)
            find(finder, node->args[i], aliases);
    }
    if (node->kind != N_CALL || node->n_args != 2)
        return;
    if (node->function == F_EQUAL)
        add_equal(finder, node, aliases);
    if (node->function >= F_CONTAINS && node->function <= F_MATCHES)
        add_text(finder, node, aliases);
    if (node->function == F_EQUAL ||
        (node->function >= F_LESS && node->function <= F_GREATER_EQUAL))
        add_quantity(finder, node, node->args[0], aliases);
    add_quantity(finder, node, node, aliases);
}

/* Terms in cel.bind() are terms of the whole, but cannot be computed alone: they are left out. */
void cel_find_terms(struct cel_program *program, struct arena *arena)
{
    struct term_finder finder = {.program = program, .arena = arena};
    find(&finder, program->root, NULL);
}
