/*
 * claim_lookup: the resource claims that the pods of an answer name, and the devices of the
 * cluster, for decide/claim_rules.h.
 *
 * Texts are copied under the ledger's lock, in short holds, and read without it. What one answer
 * reads is bounded: beyond, claims are not judged.
 */
#ifndef INVENTORY_CLAIM_LOOKUP_H
#define INVENTORY_CLAIM_LOOKUP_H

#include "decide/claim_rules.h"
#include "dra/claims_count.h"
#include "inventory/inventory.h"
#include "ledger/asked_claims.h"
#include "objects/device_requests.h"

struct claim_lookup;

/* The cause if a class is not judged because the cluster file has no classes. */
#define CLAIM_LOOKUP_NO_CLASSES "the saved cluster has no DeviceClasses"

/* A DeviceClass of the manifest or of the cluster. */
struct asked_class {
    struct allocate_class class;
    const struct device_request *request; /* its selectors; NULL: there is no such class */
    const char *not_judged; /* NULL: it is known whether it exists, and what it selects */
    const char *meant;      /* of a missing one: "; did you mean X?", or "" */
};

/* A request or a class of the manifest, or a class of the cluster that such a request names. */
struct asked_request {
    const struct device_request *request;
    const struct asked_class *class; /* that it names; NULL: none, or it is a class */
    struct allocate_want want;       /* with its selectors, and those of its class */
    bool needs_others;
};

struct claim_sources {
    struct inventory *inventory;
    const struct policy *policy; /* held */
    /* Of a manifest; NULL: none. Its classes and templates hide the cluster's. */
    const struct given_claims *given;
    const struct given_devices *devices;
    const struct device_request_list *requests;
    /* For ranking: only these nodes are asked about, and of those that are alike, the first stands
     * for all. NULL: all nodes. */
    const char *const *nodes;
    size_t n_nodes;
};
/* Steps of the allocator for such a question. With what src/inventory/claim_nodes.c bounds, it
 * takes at most 20 ms. Beyond it nothing is judged. */
#define CLAIM_LOOKUP_RANK_STEPS UINT64_C(1000000)

/* All in the arena; claim_lookup_free() frees its tables. */
struct claim_lookup *claim_lookup_new(const struct claim_sources *sources, struct arena *arena);
void claim_lookup_free(struct claim_lookup *lookup);
/* Names the claims of a pod, as in pod_facts. Borrows the texts. */
void claim_lookup_add(struct claim_lookup *lookup, const char *namespace_, const char *claims);
/* Finds all that are named, and copies the devices. Once, without the ledger's lock. */
void claim_lookup_run(struct claim_lookup *lookup);
/* Of the sources' nodes, the one that stands for nodes[i]. */
size_t claim_lookup_stands_for(const struct claim_lookup *lookup, size_t i);
/* A pod that was added, as in pod_facts. uid "": a new one, which has no claims made from
 * templates. */
struct claims_user {
    const char *namespace_, *claims, *uid;
    uint32_t made_claims;
};
/* The pod as it is judged by what the watches have shown: its template in place of a claim that
 * they have not. In the arena. */
struct claims_user claims_user_seen(const struct cluster *cluster, const struct pod_facts *pod,
                                    struct arena *arena);
/* NULL: it names no claims. */
struct claim_rules *claim_lookup_rules(struct claim_lookup *lookup, const struct claims_user *pod);
/* Those of the sources' requests, in their order, then the classes of the cluster. */
const struct asked_request *claim_lookup_requests(const struct claim_lookup *lookup, size_t *ret_n);
/* The devices that a want is counted over, as placed replicas have left them. There are requests.
 */
struct claims_seen claim_lookup_seen(struct claim_lookup *lookup, bool with_others);
/* Whether the pod was not judged in full, as the answer has a budget of claims and of steps. */
bool claim_lookup_was_spent(const struct claim_lookup *lookup, const struct claim_rules *rules);
/* Whether the answer has room for n more lines about claims, and takes it. */
bool claim_lookup_take_lines(struct claim_lookup *lookup, size_t n);
/* The devices for a want of a claim that was found, as placed replicas have left them; valid until
 * more are placed. with_others: the claim's needs_others. NULL: its class or the devices are
 * unknown. */
const struct claims_count *claim_lookup_count(struct claim_lookup *lookup,
                                              const struct allocate_want *want, bool with_others);

#endif
