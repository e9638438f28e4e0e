/*
 * asked_claims: how many GPUs the resource claims that a pod names (spec.resourceClaims) count in
 * quotas, or will count.
 *
 * An allocated claim counts already, in its namespace (ledger/claim_usage.h). An unallocated one
 * will count at least the devices of its spec, as far as their class names the driver. If bind
 * rejected its last allocation, it is assumed to get the same again. For a claim that is not made
 * yet, its template counts.
 */
#ifndef LEDGER_ASKED_CLAIMS_H
#define LEDGER_ASKED_CLAIMS_H

#include "base/arena.h"
#include "ledger/nominate.h"
#include "types/device_facts.h"

struct claim_use; /* ledger/claim_usage.h */

/* Hypothetical claims and templates. A template hides the ledger's of the same name; a claim counts
 * only if the ledger has none of that name. */
struct given_claims {
    struct given_list {
        struct claim_template_facts *items;
        size_t n; /* at most GIVEN_CLAIMS_MAX: a look-up visits all */
    } templates, claims;
    /* Those that do not count, and why. */
    struct given_fault {
        bool is_template;
        const char *namespace_, *name, *why;
    } * faults;
    size_t n_faults;
};
#define GIVEN_CLAIMS_MAX ((size_t)500)

struct claims_question {
    const char *namespace_; /* of the pod */
    const char *claims;     /* as in pod_facts */
    const struct asker *asker;
    const char *except;               /* claims that do not count, in the same form; NULL: none */
    const struct given_claims *given; /* NULL: none */
};

/* Cells are as in ledger/namespace_usage.h; NULL: all are 0. */
struct asked_claims {
    /* Each claim is known, allocated, and reserved for the pod. */
    bool are_ready;
    /* The GPUs of a scope that claims without an allocation will get at least. */
    int64_t least[QUOTA_SCOPES_MAX];
    /* The part of `least` that comes from templates: each replica of the pod gets it for itself. */
    int64_t each[QUOTA_SCOPES_MAX];
    int64_t *refused; /* the same by what bind refused: cells */
    int64_t *used;    /* what the allocated claims count */
    /* The first in the order of namespace and name that floats (claim_usage_floats()). NULL: none
     */
    const struct claim_use *first_floating;
    /* In a copy for forks: asked_claims_yielding(), and the policy whose cells these are. */
    const int64_t *yielding;
    const struct policy *policy;
};

/* All ready and 0 for a pod that names none, without quotas, in a fork,
 * and while not all claims are known (cluster_set_known()). The claim for the pod's extended
 * resources is left out. */
struct asked_claims asked_claims_of(const struct cluster *cluster,
                                    const struct claims_question *question, struct arena *arena);

/* Lines, each ended by a newline, with the templates that the ledger lacks, so that no quota counts
 * the claims that will be made from them; NULL: none, or no quota would count claims. */
const char *asked_claims_unknown(const struct cluster *cluster,
                                 const struct claims_question *question, struct arena *arena);

/* What those floating claims count that come after the pod's first floating one and that it does
 * not name: for each quota its namespace_usage_n_cells() cells. NULL: nothing. */
const int64_t *asked_claims_yielding(const struct cluster *cluster,
                                     const struct claims_question *question,
                                     const struct asked_claims *asked, struct arena *arena);
/* The same for a decision on a fork. Call it under the lock of the fork's origin, whose policy may
 * have changed meanwhile. NULL: no quota counts any of the claims. */
const struct asked_claims *asked_claims_for_fork(const struct cluster *cluster,
                                                 const struct claims_question *question,
                                                 struct arena *arena);
/* Whether a quota may count any of them, for some namespace. */
bool asked_claims_count(const struct cluster *cluster, const struct asked_claims *asked);

/* Models of the devices that a claim may get on a node: policy_quota_models(). */
struct asked_models {
    uint64_t sure;     /* of whichever it gets */
    uint64_t possible; /* of any */
};
/* Claims may also get devices that several nodes reach, so with such devices nothing is sure. */
struct asked_models asked_claims_models(const struct cluster *cluster, const struct node *node);

/* Bind rejected the pod: calls claim_usage_refuse() for each allocated claim that it names. */
void asked_claims_refuse(struct cluster *cluster, const struct claims_question *question);

#endif
