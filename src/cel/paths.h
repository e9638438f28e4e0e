/*
 * paths: parts of an expression that name a fact of the device by literals.
 */
#ifndef CEL_PATHS_H
#define CEL_PATHS_H

#include "cel_priv.h"

/* device.attributes (depth 0), a domain of it (1), or a fact (2). */
struct cel_path {
    bool is_capacity;
    unsigned depth;
    struct cel_text domain, name;
};

/* A name of cel.bind() or of a fold; what it stands for, if that is a path. */
struct cel_alias {
    struct cel_text name;
    bool is_path;
    struct cel_path path;
    const struct cel_alias *outer;
};

/* Whether the node is the device itself. */
bool cel_is_device(const struct cel_node *node, const struct cel_alias *aliases);
/* What the node names; false: nothing, or not by literals alone. */
bool cel_path_of(const struct cel_node *node, const struct cel_alias *aliases,
                 struct cel_path *ret);
/* "name" in device.attributes["domain"], or "domain" in device.attributes. */
bool cel_is_presence(const struct cel_node *node, const struct cel_alias *aliases,
                     struct cel_path *ret);

#endif
