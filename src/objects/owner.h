/*
 * owner: whose replica a pod is.
 */
#ifndef OBJECTS_OWNER_H
#define OBJECTS_OWNER_H

#include "base/arena.h"

#include <jansson.h>

/* The UID of the ReplicaSet, StatefulSet or ReplicationController that controls the object; ""
 * where it is another kind, or none. What is of a wrong type is none. */
const char *owner_of_replica(const json_t *metadata, struct arena *arena);

#endif
