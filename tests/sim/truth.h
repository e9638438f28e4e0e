/*
 * truth: objects stored in the API server: nodes and pods, with all versions in one history.
 */
#ifndef SIM_TRUTH_H
#define SIM_TRUTH_H

#include "base/arena.h"
#include "base/buf.h"
#include "fences.h"

#include <stdbool.h>
#include <stdint.h>

enum truth_kind { TRUTH_NODES, TRUTH_PODS, TRUTH_OTHERS };

/* An object at one time. Strings live as long as the truth. */
struct truth_state {
    const char *uid;
    const char *namespace_; /* of a pod; NULL: "ml" */
    unsigned gpus;          /* of a node, or requested by a pod */
    const char *gang;       /* of a pod: its group; NULL: none */
    unsigned gang_size;
    unsigned priority; /* of a pod */
    bool cordoned;
    const char *node; /* "": none */
    const char *bound_by;
    struct binder binder; /* our binding; service NULL: none */
    bool finished;
    bool terminating;
    /* With nodes that flap. */
    const char *owner;     /* of a pod; NULL: none */
    const char *failure;   /* of a finished pod: members of its status; NULL: it succeeded */
    bool is_unstarted;     /* a pod that its kubelet has still to take */
    bool was_taken;        /* by its kubelet */
    bool is_unready;       /* a node */
    unsigned boot, lifted; /* of a node: 0: not there */
};

struct truth_object;

struct truth_version {
    int64_t rv;
    struct truth_object *object;
    struct truth_version *before; /* previous version of the object; NULL: none */
    bool deleted;                 /* state is then the last one */
    struct truth_state state;
};

/* All objects of this name, which may be deleted and recreated. */
struct truth_object {
    enum truth_kind kind;
    const char *name;
    struct truth_version *last;
    unsigned gpus_ever; /* of a node: its maximum */
    struct truth_object *next;
};

typedef void truth_listener(void *context, const struct truth_version *version);

struct truth {
    struct arena *arena;
    struct truth_version **history; /* history[i]->rv is i + 1 */
    size_t n;
    size_t size;
    int64_t compacted_rv;         /* older versions are compacted */
    struct truth_object *objects; /* in order of first creation */
    unsigned n_uids;
    truth_listener *listeners[2];
    void *contexts[2];
    unsigned n_listeners;
};

void truth_init(struct truth *truth, struct arena *arena);
void truth_fini(struct truth *truth);
void truth_listen(struct truth *truth, truth_listener *listener, void *context);

int64_t truth_rv(const struct truth *truth);
const char *truth_new_uid(struct truth *truth);

/* NULL: there never was one. */
struct truth_object *truth_find(const struct truth *truth, enum truth_kind kind, const char *name);
/* Creates or changes the object of that name. */
void truth_put(struct truth *truth, enum truth_kind kind, const char *name,
               const struct truth_state *state);
void truth_delete(struct truth *truth, struct truth_object *object);

/* The present state; NULL: deleted. */
const struct truth_state *truth_now(const struct truth_object *object);
/* The version at that resourceVersion; NULL: absent then. */
const struct truth_version *truth_at(const struct truth_object *object, int64_t rv);

/* GPUs of the node's unfinished pods. bound_by: prefix of the binder's name; NULL: any. */
unsigned truth_gpus_used(const struct truth *truth, const char *node, const char *bound_by);
/* How often a binding assigned this UID to the node: 0 or 1. */
bool truth_was_bound(const struct truth *truth, const char *uid, const char *node);

const char *truth_namespace(const struct truth_state *state);
/* Writes the object as JSON with that resourceVersion. */
void truth_write(const struct truth_object *object, const struct truth_state *state, int64_t rv,
                 struct buf *out);

#endif
