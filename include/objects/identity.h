/*
 * identity: kind, namespace and name of any Kubernetes object.
 */
#ifndef OBJECTS_IDENTITY_H
#define OBJECTS_IDENTITY_H

#include "base/arena.h"
#include "base/err.h"
#include "types/facts.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* "" if absent. In the arena. */
struct identity {
    const char *kind;
    const char *api_version;
    const char *namespace_;
    const char *name; /* metadata.name, else metadata.generateName */
    const char *uid;
};

/* -EINVAL: no object, or a member that is no string. */
int identity_from_json(const json_t *object, struct arena *arena, struct identity *ret_identity,
                       struct err *err);

/* The namespace of a namespaced object: "default" if absent. */
const char *identity_namespace(const struct identity *identity);

/* The kind of a list's items: "Node" of a "NodeList", "" of a "List"; NULL if it is no list. The
 * caller frees it. */
char *identity_item_kind(const json_t *list);

/* All that the facts point to is in the arena. -EINVAL: a member of the wrong type. */
int priority_class_from_json(const json_t *object, struct arena *arena,
                             struct priority_class_facts *ret_facts, struct err *err);

#endif
