/*
 * reads: which facts of a device an expression reads, as far as its text says so.
 */
#include "functions.h"

#include <string.h>

/* device.attributes (depth 0), a domain of it (1), or a fact (2). */
struct path {
    bool is_capacity;
    unsigned depth;
    struct cel_text domain, name;
};

/* A name of cel.bind() or of a fold; what it stands for, if that is a path. */
struct alias {
    struct cel_text name;
    bool is_path;
    struct path path;
    const struct alias *outer;
};

struct reader {
    struct cel_program *program;
    struct arena *arena;
    size_t size;
};

static void walk(struct reader *reader, const struct cel_node *node, const struct alias *aliases);

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static void add(struct reader *reader, const struct path *path)
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
    if (program->n_reads == reader->size) {
        size_t size = reader->size == 0 ? 4 : 2 * reader->size;
        struct cel_read *reads = ARENA_ARRAY(reader->arena, struct cel_read, size);
        if (program->n_reads > 0)
            memcpy(reads, program->reads, program->n_reads * sizeof *reads);
        program->reads = reads;
        reader->size = size;
    }
    program->reads[program->n_reads++] = read;
}

static bool is_device(const struct cel_node *node, const struct alias *aliases)
{
    if (node->kind != N_IDENT || !cel_text_is(node->name, "device"))
        return false;
    for (; aliases; aliases = aliases->outer)
        if (cel_text_is(aliases->name, "device"))
            return false;
    return true;
}

static bool path_of(const struct cel_node *node, const struct alias *aliases, struct path *ret);

static bool extend(const struct cel_node *object, struct cel_text key, const struct alias *aliases,
                   struct path *ret)
{
    if (!path_of(object, aliases, ret) || ret->depth == 2)
        return false;
    *(ret->depth == 0 ? &ret->domain : &ret->name) = key;
    ret->depth++;
    return true;
}

static bool path_of(const struct cel_node *node, const struct alias *aliases, struct path *ret)
{
    if (node->kind == N_IDENT) {
        while (aliases && !cel_text_equal(aliases->name, node->name))
            aliases = aliases->outer;
        if (aliases)
            *ret = aliases->path;
        return aliases && aliases->is_path;
    }
    if (node->kind == N_SELECT && is_device(node->args[0], aliases)) {
        bool is_capacity = cel_text_is(node->name, "capacity");
        *ret = (struct path){.is_capacity = is_capacity};
        return is_capacity || cel_text_is(node->name, "attributes");
    }
    if (node->kind == N_SELECT)
        return extend(node->args[0], node->name, aliases, ret);
    bool is_index =
        node->kind == N_CALL && (node->function == F_INDEX || node->function == F_OPT_INDEX);
    if (!is_index || node->args[1]->kind != N_CONST || node->args[1]->constant.kind != V_STRING)
        return false;
    return extend(node->args[0], node->args[1]->constant.text, aliases, ret);
}

/* "name" in device.attributes["domain"], or "domain" in device.attributes. */
static bool is_presence(const struct cel_node *node, const struct alias *aliases, struct path *ret)
{
    if (node->kind != N_CALL || node->function != F_IN || node->args[0]->kind != N_CONST ||
        node->args[0]->constant.kind != V_STRING ||
        !extend(node->args[1], node->args[0]->constant.text, aliases, ret))
        return false;
    if (ret->depth == 1) { /* whether the domain is there: the name is empty */
        ret->name = (struct cel_text){"", 0};
        ret->depth = 2;
    }
    return true;
}

static void walk_scope(struct reader *reader, const struct cel_node *node,
                       const struct alias *aliases)
{
    struct alias alias = {.name = node->name, .outer = aliases};
    alias.is_path = node->kind == N_BIND && path_of(node->args[0], aliases, &alias.path) &&
                    alias.path.depth < 2;
    if (!alias.is_path)
        walk(reader, node->args[0], aliases);
    for (size_t i = 1; i < node->n_args; i++)
        walk(reader, node->args[i], &alias);
}

static void walk(struct reader *reader, const struct cel_node *node, const struct alias *aliases)
{
    struct path path;
    if (path_of(node, aliases, &path) || is_presence(node, aliases, &path)) {
        add(reader, &path);
    } else if (is_device(node, aliases)) { /* as a value: any of its facts */
        add(reader, &(struct path){.is_capacity = false});
        add(reader, &(struct path){.is_capacity = true});
    } else if (node->kind == N_SELECT && is_device(node->args[0], aliases)) {
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
