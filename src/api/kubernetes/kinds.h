/*
 * kinds: the resources of the aggregated API, in one table: paths, discovery, OpenAPI and tables
 * follow it. Private to api.
 */
#ifndef API_KUBERNETES_KINDS_H
#define API_KUBERNETES_KINDS_H

#include "api/kubernetes/objects.h"

#define KUBERNETES_GROUP "visibility.gpu-extender.io"
#define KUBERNETES_VERSION "v1alpha1"
#define KUBERNETES_API_VERSION KUBERNETES_GROUP "/" KUBERNETES_VERSION

/* A member of status (or of spec). type: of OpenAPI, or "strings", "objects": arrays of these. A
 * name NULL ends a list. */
struct kind_member {
    const char *name, *type, *description;
};

/* A column of tables after the name; its cells are a member of status, or (NULL) the age. A title
 * NULL ends a list. */
struct kind_column {
    const char *title, *member;
    int priority; /* 1: with -o wide only */
};

struct object_kind {
    const char *resource, *singular, *name, *description;
    bool is_namespaced;
    const char *const *verbs;   /* of discovery; ends with NULL */
    const char *explained_kind; /* of its subresource explain; NULL: it has none */
    const char *field;          /* a member of status by which fields select; NULL: none */
    const struct kind_member *spec, *status; /* NULL: it has none */
    const struct kind_column *columns;
    objects_find *find; /* NULL: it has no lists */
    void (*create)(const struct objects_query *query);
};

/* A resource NULL ends the list. */
extern const struct object_kind KUBERNETES_KINDS[];

/* By the resource's name, of len bytes; NULL: there is none. */
const struct object_kind *kind_find(const char *resource, size_t len);
bool kind_has_verb(const struct object_kind *kind, const char *verb);

/* ---- gpunodes: totals, without names of pods and namespaces ---- */

extern const struct kind_member NODE_MEMBERS[];
extern const struct kind_column NODE_COLUMNS[];
objects_find nodes_find;

/* ---- gpupods with their subresource explain, and gpupending ---- */

extern const struct kind_member HOLDER_MEMBERS[], PENDING_MEMBERS[];
extern const struct kind_column HOLDER_COLUMNS[], PENDING_COLUMNS[];
objects_find pods_find_holders;
objects_find pods_find_pending;

/* Answers with GET /v1/explain of the selected pod, which need not hold GPUs. */
void pods_explain(const struct objects_query *query);

#endif
