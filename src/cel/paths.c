/*
 * paths: see paths.h.
 */
#include "paths.h"

#include "functions.h"

bool cel_is_device(const struct cel_node *node, const struct cel_alias *aliases)
{
    if (node->kind != N_IDENT || !cel_text_is(node->name, "device"))
        return false;
    for (; aliases; aliases = aliases->outer)
        if (cel_text_is(aliases->name, "device"))
            return false;
    return true;
}

static bool extend(const struct cel_node *object, struct cel_text key,
                   const struct cel_alias *aliases, struct cel_path *ret)
{
    if (!cel_path_of(object, aliases, ret) || ret->depth == 2)
        return false;
    *(ret->depth == 0 ? &ret->domain : &ret->name) = key;
    ret->depth++;
    return true;
}

bool cel_path_of(const struct cel_node *node, const struct cel_alias *aliases, struct cel_path *ret)
{
    if (node->kind == N_IDENT) {
        while (aliases && !cel_text_equal(aliases->name, node->name))
            aliases = aliases->outer;
        if (aliases)
            *ret = aliases->path;
        return aliases && aliases->is_path;
    }
    if (node->kind == N_SELECT && cel_is_device(node->args[0], aliases)) {
        bool is_capacity = cel_text_is(node->name, "capacity");
        *ret = (struct cel_path){.is_capacity = is_capacity};
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

bool cel_is_presence(const struct cel_node *node, const struct cel_alias *aliases,
                     struct cel_path *ret)
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
