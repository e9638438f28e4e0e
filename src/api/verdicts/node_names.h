/*
 * node_names: the labels, values, resources and models that nodes have, and the names of a pod that
 * none has, each with the nearest. Private to api.
 */
#ifndef API_VERDICTS_NODE_NAMES_H
#define API_VERDICTS_NODE_NAMES_H

#include "api/verdicts/candidates.h"

#define NODE_NAMES_COMPARISON ((size_t)20)

struct name_view {
    const struct candidates *candidates;
    struct arena *arena;
};

/* Whether the work is allowed (MODELS_HERE_NAMES). Beyond it every name counts as there. */
bool node_names_pay(const struct name_view *names, size_t cost);
bool node_names_has_label(const struct name_view *names, const char *key);
/* One of the requirement's values. */
bool node_names_has_value(const struct name_view *names, const struct requirement *requirement);
bool node_names_has_resource(const struct name_view *names, const struct resource *resource);
/* What was probably meant by a name that no node has; NULL: none is near. */
const char *node_names_near_label(const struct name_view *names,
                                  const struct requirement *requirement);
const char *node_names_near_value(const struct name_view *names, const char *key,
                                  const char *value);
const char *node_names_near_resource(const struct name_view *names, const char *asked);

/* The search for a known name that was meant by one that is missing. */
struct name_search {
    const struct name_view *names;
    const char *asked;
    const char *found; /* NULL: none is near so far */
    const char *last;  /* compared last: neighbours often have the same */
    bool (*is_meant)(const char *asked, const char *known); /* NULL: nearest_is_typo() */
};
void name_search_offer(struct name_search *search, const char *name);

enum missing_kind {
    MISSING_NOTHING,
    MISSING_RESOURCE,
    MISSING_MODEL,
    MISSING_LABEL,
    MISSING_VALUE,
    MISSING_TOLERATION,
    MISSING_TOGETHER, /* two resources, of which each node lacks one */
    MISSING_NAMESPACE,
    MISSING_PRIORITY_CLASS,
    MISSING_RUNTIME_CLASS,
    MISSING_NODE
};

struct missing_name {
    enum missing_kind kind;
    const char *name;  /* of the resource, the model, the label or the taint */
    const char *value; /* MISSING_VALUE: of the label; MISSING_TOGETHER: the other resource */
    const char *meant; /* NULL: none is near */
    const struct requirement *requirement; /* of a label */
    bool is_in_affinity;                   /* and not in nodeSelector */
    size_t i_model;                        /* MISSING_MODEL: in wants.accept */
    struct gpu_model meant_model;          /* the same, if one is meant */
};

/* The first name without which no node can fit, and that no node has. */
struct missing_name node_names_find_missing(const struct name_view *names,
                                            const struct pod_shape *shape);
/* The first toleration whose key no taint has, and that probably meant this taint. */
struct missing_name node_names_find_toleration(const struct name_view *names,
                                               const struct shape_facts *facts,
                                               const struct taint *meant);
/* The node that spec.nodeName probably means; NULL: none. */
const char *node_names_near_node(const struct name_view *names, const char *asked);
#define NODE_NAMES_NEAR 6
#define NODE_NAMES_SHOWN ((size_t)3)
/* The names that are nearest to a missing one, in that order. */
struct near_names {
    const char *items[NODE_NAMES_NEAR];
    size_t ranks[NODE_NAMES_NEAR];
    size_t n;
    size_t n_all; /* different ones that there are */
};
/* The resources beside CPU and memory, label keys, values of the label or models that there are. */
struct near_names node_names_near(const struct name_view *names,
                                  const struct missing_name *missing);
/* The same as text: "there are a, b, c, +4"; "": none. */
const char *node_names_there(const struct name_view *names, const struct missing_name *missing);

#endif
