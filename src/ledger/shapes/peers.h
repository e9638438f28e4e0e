/*
 * peers: pods' labels, and their terms of affinity between pods and of topology spread, each kept
 * once per namespace and reference-counted. Private to ledger.
 *
 * Labels and terms are kept apart, as pods with labels of their own (StatefulSets) share terms.
 * Tenants choose both, so they are bounded like shapes: one part by policy->pod_shape_bytes, all
 * together by policy->pod_shapes_bytes or a share of it, shared out between namespaces by
 * shape_accounts.h.
 */
#ifndef LEDGER_SHAPES_PEERS_H
#define LEDGER_SHAPES_PEERS_H

#include "base/hash.h"
#include "base/table.h"
#include "ledger/shapes/shape_accounts.h"
#include "types/facts.h"
#include "types/policy.h"

/* One allocation, with all that its facts point to. */
struct peer_entry {
    struct peer_facts facts; /* only labels, or only terms; CONTAINER_OF() finds the rest */
    size_t refs;
    size_t bytes;
    struct siphash128 digest; /* of the namespace and the facts */
    UT_hash_handle hh;
};

struct peers {
    struct peer_entry *entries;
    struct shape_accounts accounts;
    size_t bytes; /* of all entries */
    size_t share; /* bytes <= policy->pod_shapes_bytes / share */
};

/* The terms and labels that are kept of one pod. */
struct kept_peers {
    const struct peer_facts *labels;    /* NULL: none, or not kept */
    const struct peer_facts *terms;     /* NULL: none, or not kept */
    bool lacks_any;                     /* there was no room for one of them */
    const struct peer_facts *own_terms; /* as in struct pod */
    bool lacks_own_terms;
};

/* Takes a reference to each part. Does not set own_terms. */
struct kept_peers peers_intern(struct peers *peers, const struct policy *policy,
                               const char *namespace_, const struct peer_facts *facts);
/* part NULL: does nothing. */
void peers_ref(const struct peer_facts *part);
/* namespace_: the one that it was interned for. */
void peers_unref(struct peers *peers, const char *namespace_, const struct peer_facts *part);

#endif
