/*
 * reads: which facts of a device an expression reads, as far as its text says so.
 */
#include "functions.h"
#include "paths.h"

#include <string.h>

struct reader {
    struct cel_program *program;
    struct arena *arena;
    size_t size;
};

static void walk(struct reader *reader, const struct cel_node *node,
                 const struct cel_alias *aliases);

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static void add(struct reader *reader, const struct cel_path *path)
{
    struct cel_program *program = reader->program;
    struct cel_read read = {.is_capacity = path->is_capacity};
    if (path->depth >= 1)
        read.domain = arena_strndup(reader->arena, path->domain.bytes, path->domain.len);
    if (path->depth >= 2)
        read.name = arena_strndup(reader->arena, path->name.bytes, path->name.len);
    for (size_t i = 0; i < program->n_reads; i++)
        if (program->reads[i].is_capacity == read.is_capacity &&
            same_text(program->reads[i].domain, read.domain) &&
            same_text(program->reads[i].name, read.name))
            return;
    program->reads =
        arena_grow(reader->arena, program->reads, program->n_reads, &reader->size, sizeof read);
    program->reads[program->n_reads++] = read;
}

static void walk_scope(struct reader *reader, const struct cel_node *node,
                       const struct cel_alias *aliases)
{
    struct cel_alias alias = {.name = node->name, .outer = aliases};
    alias.is_path = node->kind == N_BIND && cel_path_of(node->args[0], aliases, &alias.path) &&
                    alias.path.depth < 2;
    if (!alias.is_path)
        walk(reader, node->args[0], aliases);
    for (size_t i = 1; i < node->n_args; i++)
        walk(reader, node->args[i], &alias);
}

static void walk(struct reader *reader, const struct cel_node *node,
                 const struct cel_alias *aliases)
{
    struct cel_path path;
    if (cel_path_of(node, aliases, &path) || cel_is_presence(node, aliases, &path)) {
        add(reader, &path);
    } else if (cel_is_device(node, aliases)) { /* as a value: any of its facts */
        add(reader, &(struct cel_path){.is_capacity = false});
        add(reader, &(struct cel_path){.is_capacity = true});
    } else if (node->kind == N_SELECT && cel_is_device(node->args[0], aliases)) {
        return; /* driver, allowMultipleAllocations */
    } else if (node->kind == N_FOLD || node->kind == N_BIND) {
        walk_scope(reader, node, aliases);
    } else {
        for (size_t i = 0; i < node->n_args; i++)
            walk(reader, node->args[i], aliases);
    }
}

void cel_find_reads(struct cel_program *program, struct arena *arena)
{
    struct reader reader = {.program = program, .arena = arena};
    walk(&reader, program->root, NULL);
}
