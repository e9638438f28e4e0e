/*
 * schema: the field names of Kubernetes' built-in workload kinds, of all that is below a pod
 * template, and of the kinds of claims in each version. schema_table.c is generated from
 * Kubernetes' own types.
 */
#ifndef OBJECTS_TEMPLATES_SCHEMA_H
#define OBJECTS_TEMPLATES_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

/* A type whose members have any names: a leaf, a map (labels, limits), a status. */
#define SCHEMA_ANY 0

struct schema_field {
    const char *name;
    unsigned short type; /* of the value, or of the elements of 'L' and 'N' */
    char shape; /* 'B' true or false, 'I' an int32, 'J' an int64, 'S' a string, 'X' an int32 or a
                 * string, 'O' an object, 'M' an object of strings, 'N' an object of objects, 'L' an
                 * array, 'T' an array of strings, '-' not judged */
};

struct schema_type {
    unsigned short first; /* in SCHEMA_FIELDS */
    unsigned short n;
};

/* A kind whose versions have different forms. */
struct schema_versioned {
    const char *api_version, *kind;
    int type;
};

extern const struct schema_field SCHEMA_FIELDS[];
extern const struct schema_type SCHEMA_TYPES[];
/* Pod, Deployment ..., List. */
extern const struct schema_field SCHEMA_KINDS[];
extern const size_t SCHEMA_KINDS_N;
/* ResourceClaim, DeviceClass ... */
extern const struct schema_versioned SCHEMA_VERSIONED[];
extern const size_t SCHEMA_VERSIONED_N;
extern const int SCHEMA_CONTAINER;
extern const int SCHEMA_POD_SPEC;
extern const int SCHEMA_POD_TEMPLATE;
extern const int SCHEMA_RESOURCES;

/* Bytes of the group of an apiVersion; 0: the core group. */
size_t schema_group_len(const char *api_version);
/* Whether Kubernetes' own kinds may be in the apiVersion: the groups of other kinds have a dot. */
bool schema_is_own_group(const char *api_version);
/* Whether the apiVersion is of the group, or empty. */
bool schema_may_be_in_group(const char *api_version, const char *group);
/* The type of a built-in kind, ignoring case, or of one of claims; SCHEMA_ANY: it is none. */
int schema_type_of_kind(const char *kind, const char *api_version);
/* Whether the version is one of claims' group, and has no such kind. */
bool schema_version_lacks(const char *api_version, const char *kind);
/* NULL: the type has no such field. */
const struct schema_field *schema_field(int type, const char *name);

#endif
