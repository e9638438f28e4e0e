/*
 * changes: the changes of POST /v1/what-if, and what they do to a ledger of one's own. Private to
 * api.
 */
#ifndef API_WHAT_IF_CHANGES_H
#define API_WHAT_IF_CHANGES_H

#include "base/arena.h"
#include "base/err.h"
#include "base/table.h"
#include "ledger/cluster.h"
#include "ledger/edit.h"

#include <jansson.h>
#include <stdbool.h>

/* ---- met budgets ---- */
/* The PodDisruptionBudgets that a drain would meet, and what the eviction API of Kubernetes
 * would say to it now. Source: pkg/registry/core/pod/storage/eviction.go. A pending or
 * terminating pod is evicted without a look at budgets. A pod with several budgets is never
 * evicted. One that is not ready is evicted if its budget has the policy AlwaysAllow, or has as
 * many healthy pods as it needs. Any other pod uses one of status.disruptionsAllowed. */

struct met_budgets;
struct budget_match;

struct met_eviction {
    const char *names;                /* of the budgets that the pod meets, as text; NULL: none */
    const struct budget_match *match; /* the rest is private */
    bool was_ready, is_judged;
};

/* Over the ledger's budgets, which must outlive the result and may not change. Release with
 * met_budgets_free(). */
struct met_budgets *met_budgets_new(const struct cluster *ledger, struct arena *arena);
void met_budgets_free(struct met_budgets *budgets);
/* A pod that is evicted from its node. */
struct met_eviction met_budgets_evict(struct met_budgets *budgets, const struct pod *pod);
/* The pod is not evicted after all. */
void met_budgets_spare(struct met_budgets *budgets, const struct met_eviction *eviction);
/* A budget, "namespace/name", that could not be read, and why. Texts are copied. */
void met_budgets_add_unread(struct met_budgets *budgets, const char *name, const char *why);
/* {checked, met: [MetBudget], omitted, notJudged: [{namespace, name, reason}]}; why: the ledger may
 * lack budgets; NULL: it has all. */
json_t *met_budgets_json(const struct met_budgets *budgets, const char *why);

/* ---- the ResourceSlices of the model nodes of added nodes ---- */

struct model_slices {
    const char *node;
    struct edit_slices slices; /* in the arena; texts are the ledger's */
    UT_hash_handle hh;
};

/* Adds a model to the table. */
void model_slices_want(struct model_slices **table, const char *node, struct arena *arena);
/* Visits each slice of the ledger once. */
void model_slices_read(struct model_slices *table, const struct cluster *ledger,
                       struct arena *arena);
/* NULL: it is no model. */
struct model_slices *model_slices_find(struct model_slices *table, const char *node);

/* ---- changes ---- */

/* Limits of a request; more is rejected (-E2BIG). */
#define CHANGES_MAX ((size_t)1000)
#define CHANGES_NAMES_MAX ((size_t)10000)
#define CHANGES_NODES_MAX ((size_t)5000)      /* added */
#define CHANGES_BYTES_MAX ((size_t)256 << 20) /* of added nodes, with their pods and slices */
#define CHANGES_POLICY_MAX ((size_t)100)      /* changes of the policy; each reads it anew */

enum change_kind {
    CHANGE_ADD_NODES,
    CHANGE_DRAIN,
    CHANGE_CORDON,
    CHANGE_LIFT, /* quarantine and shape traps */
    CHANGE_REMOVE_PODS,
    CHANGE_QUOTA,
    CHANGE_PLACEMENT,
    N_CHANGES
};

struct asked_change {
    enum change_kind kind;
    const char *const *names; /* of nodes; "NAMESPACE/NAME" of pods */
    size_t n_names;
    const char *like; /* CHANGE_ADD_NODES: the model */
    size_t count;     /* the same: how many */
    json_t *values;   /* CHANGE_QUOTA, CHANGE_PLACEMENT: the object */
    json_t *effect;   /* of these: an item of the answer's changes; what_if.c sets it */
};

struct change_list {
    struct asked_change *items;
    size_t n;
};

/* The member `changes` of a request, NULL: none. All but JSON is in the arena; call changes_fini()
 * in any case. -EINVAL, or -E2BIG. */
int changes_read(const json_t *changes, struct arena *arena, struct change_list *ret_list,
                 struct err *err);
void changes_fini(struct change_list *list);

/* Whether a change has this member: "drain". */
bool changes_has_kind(const char *key);

/* A pod that a drain takes from its node. */
struct displaced {
    const char *uid, *namespace_, *name;
    const char *controller; /* as in pod_facts; NULL: nothing recreates it */
    const char *from;
    struct met_eviction eviction;
    UT_hash_handle hh; /* by its UID */
};

/* A pod that a drain removed for good: it was terminating, or nothing recreates it. */
struct gone_pod {
    const char *name; /* NAMESPACE/NAME */
    const char *uid;
    UT_hash_handle hh; /* by its name */
};

struct applied {
    struct arena *arena;
    json_t *changes;                  /* array: what each change did */
    struct displaced *displaced;      /* a table, in order of the drains */
    struct gone_pod *gone;            /* a table */
    struct met_budgets *budgets;      /* of the ledger, which must outlive it */
    struct model_slices *models;      /* a table */
    size_t n_nodes, bytes, max_bytes; /* added, as edit_add_like() counts */
};

/* Applies them one after another; those of the policy are in force already. At an error the ledger
 * is of no further use. -ENOENT: a name that does not exist; -EINVAL; -E2BIG. Release with
 * applied_fini(). */
int changes_apply(const struct change_list *list, struct cluster *ledger, struct applied *applied,
                  struct err *err);
void applied_init(struct applied *ret_applied, struct arena *arena);
void applied_fini(struct applied *applied);

#endif
