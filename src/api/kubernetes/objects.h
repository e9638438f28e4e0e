/*
 * objects: answers with one object of a kind, a list of them, or a table. Private to api.
 */
#ifndef API_KUBERNETES_OBJECTS_H
#define API_KUBERNETES_OBJECTS_H

#include "api/api.h"
#include "api/kubernetes/selection.h"

#include <jansson.h>

struct object_kind;
struct kind_member;

/* One request. */
struct objects_query {
    const struct api *api;
    const struct object_kind *kind;
    const struct selection *selection;
    struct exchange *exchange;
    struct arena *arena;
};

struct objects {
    json_t *items;
    bool is_page;  /* in order, selected and cut to the page */
    bool has_more; /* after the page */
};

/* Adds objects, at least those that the request selects. False: it has answered the exchange. */
typedef bool objects_find(const struct objects_query *query, struct objects *objects);

struct objects_metadata {
    const char *namespace_; /* "": none */
    const char *name;
    int64_t created_s;    /* 0: not known */
    const json_t *labels; /* borrowed; NULL: none */
};
/* Takes status over. */
void objects_add(struct objects *objects, const struct objects_query *query,
                 const struct objects_metadata *metadata, json_t *status);
/* {apiVersion, kind, metadata, status}. Takes status over. */
json_t *objects_json(const char *kind, const struct objects_metadata *metadata, json_t *status);
/* Sets the members of a list in `status` that `answer` has and that are not set yet. */
void objects_pick(const struct kind_member *members, const json_t *answer, json_t *status);
/* An object with the labels. */
json_t *objects_labels(const struct label *labels, size_t n);

/* Answers with the list, or with the object if the selection names one: whole, as a Table or as
 * PartialObjectMetadata, as the client accepts. */
void objects_answer(const struct objects_query *query);

#endif
