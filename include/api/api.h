/*
 * api: the users' protocol: inventory, dry run, reasons for pending pods, and health.
 *
 * Answers are JSON, or plain text with ?output=table. docs/openapi.yaml has their shapes: members
 * are added, never renamed.
 */
#ifndef API_API_H
#define API_API_H

#include "base/buf.h"
#include "base/err.h"
#include "formats/json_parse.h"
#include "http/exchange.h"
#include "http/server.h"
#include "inventory/inventory.h"
#include "record/decisions.h"
#include "record/groups.h"
#include "record/observed.h"
#include "types/policy.h"

#include <jansson.h>
#include <stdatomic.h>
#include <stddef.h>

struct api {
    struct inventory *inventory; /* and the policy in force */
    struct decisions *decisions; /* NULL: none are kept */
    struct observed *observed;
    struct groups *groups;             /* NULL: over a file, where none are planned */
    size_t max_object_bytes;           /* of a manifest */
    size_t max_object_values;          /* the same */
    struct json_budget request_budget; /* of one body */
    size_t max_replicas;               /* placed one by one in a dry run */
    /* Writes further metrics after these. */
    void (*more_metrics)(void *context, struct buf *out);
    void *more_metrics_context;
    /* Whether the threads that follow the API server run; if not, why. NULL: there are none. */
    bool (*alive)(void *context, struct err *ret_why);
    void *alive_context;
    /* The replica's role ("leader"). NULL, or a function that returns NULL: the only replica. */
    const char *(*role)(void *context);
    void *role_context;
    /* Why another replica answers kube-scheduler, and which; NULL, or the result is NULL: this one
     * does. */
    const char *(*elsewhere)(void *context, struct arena *arena);
    void *elsewhere_context;
    /* The same, also while every replica may observe: only the leader gets all calls. */
    const char *(*not_leading)(void *context, struct arena *arena);
    /* The policy in force as a JSON object, in the arena; its member `values` has the values. */
    char *(*policy)(void *context, struct arena *arena);
    void *policy_context;
    /* Reads a policy from values as that object has them: policy_drop() it. -EINVAL: the message
     * begins with the key. */
    int (*read_policy)(const json_t *values, const struct policy **ret_policy, struct err *err);
    atomic_bool snapshot_under_way;
};

/* The paths /v1/..., as rows of a server's table. people: who may use them; NULL: everybody. */
#define API_N_ROUTES 14
void api_routes(struct api *api, const struct gate *people, struct route ret_routes[API_N_ROUTES]);

/* Routes; context is the struct api. */
void api_dry_run(void *context, struct exchange *exchange);     /* POST */
void api_what_if(void *context, struct exchange *exchange);     /* POST */
void api_node_groups(void *context, struct exchange *exchange); /* GET */
void api_inventory(void *context, struct exchange *exchange);   /* GET */
void api_pending(void *context, struct exchange *exchange);     /* GET */
void api_decisions(void *context, struct exchange *exchange);   /* GET */
void api_observed(void *context, struct exchange *exchange);    /* GET */
void api_groups(void *context, struct exchange *exchange);      /* GET */
void api_snapshot(void *context, struct exchange *exchange);    /* GET */
void api_explain(void *context, struct exchange *exchange);     /* GET .../NAMESPACE/NAME/explain */
void api_explain_named(void *context, struct exchange *exchange); /* GET ?namespace=&name= */
void api_fragmentation(void *context, struct exchange *exchange); /* GET */
void api_quota(void *context, struct exchange *exchange);         /* GET */
void api_policy(void *context, struct exchange *exchange);        /* GET */
void api_livez(void *context, struct exchange *exchange);
void api_readyz(void *context, struct exchange *exchange);
void api_metrics(void *context, struct exchange *exchange);

/* The parameters of these routes, which the server checks (src/api/parameters.c). */
extern const struct parameter API_OUTPUT[]; /* ?output= only */
extern const struct parameter API_DRY_RUN[];
extern const struct parameter API_DECISIONS[];
extern const struct parameter API_INVENTORY[];
extern const struct parameter API_EXPLAIN[];
extern const struct parameter API_PENDING[];
extern const struct parameter API_NAMESPACE[]; /* of groups, observed and quota */
extern const struct parameter API_FRAGMENTATION[];
extern const struct parameter API_NONE[];

#endif
