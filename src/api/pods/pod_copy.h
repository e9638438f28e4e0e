/*
 * pod_copy: copies of the ledger's pods, to judge and report them without its lock. Private to api.
 */
#ifndef API_PODS_POD_COPY_H
#define API_PODS_POD_COPY_H

#include "api/provenance.h"
#include "base/table.h"
#include "decide/gang_plan.h"
#include "decide/peer_rules.h"
#include "ledger/pod_groups.h"

/* Most pods copied per answer. */
#define POD_COPIES_MAX ((size_t)10000)

/* Of these, pods whose resource claims quotas may count; namespaces take turns. Each costs a walk
 * over the claims that no placed pod uses, under the lock. */
#define POD_COPIES_ASKED_MAX ((size_t)256)

struct asked_claims; /* ledger/asked_claims.h */
struct headline;
struct verdicts;

/* Both belong to the ledger: compare them only, never dereference. */
struct kind_of_pod {
    const struct pod_shape *shape;
    const char *namespace_; /* NULL: no quota covers it */
};

/* Verdicts that the caller shares between pods. */
struct judged {
    struct verdicts *verdicts; /* NULL at first */
    int64_t priority;          /* of the pods that they were judged for */
};

/* Shared by pods that are alike. */
struct shared_shape {
    struct kind_of_pod origin;
    struct shape_facts facts;
    struct judged judged;
    UT_hash_handle hh;
};

/* The same as kind_of_pod for affinity between pods and topology spread. */
struct kind_of_peer {
    const struct peer_facts *labels, *terms;
    const char *namespace_;
    const struct pod_shape *shape;
};

struct shared_peers {
    struct kind_of_peer origin;
    struct peer_facts labels, terms;
    struct peer_pod pod;
    bool has_rules; /* `rules` is set; by the caller */
    struct peer_rules *rules;
    struct judged judged; /* if there are rules */
    UT_hash_handle hh;
};

/* Whether the pod fits now, with no other waiting pod before it. */
enum fits_alone { ALONE_UNKNOWN, ALONE_FITS, ALONE_DOES_NOT_FIT };

struct pod_copy {
    struct pod pod; /* shape, owner, labels and terms are NULL: the ledger may free them */
    struct shared_shape *shape;
    struct shared_peers *peers;
    struct pod_group group;       /* of a pod that names one */
    const struct gang_hold *hold; /* by gangs_domain() */
    const char *replica_of;       /* as in pod_facts */
    const char *reserved_node;    /* node of its reservation; NULL: none */
    int64_t reserved_ms;          /* start of the reservation, by clock_ms() */
    /* Of pod_copy_named(): why the GPUs of its node are not those that it asks for. */
    enum reason misfit;
    /* The amounts that quotas count of its resource claims; NULL: none. */
    const struct asked_claims *asked;
    bool is_not_asked; /* it may count, but POD_COPIES_ASKED_MAX others came first */
    /* The how-manieth it is of its namespace's pods that wait with claims; 0: it has none. */
    size_t turn;
    size_t place;                    /* in the answer; by pending.c */
    enum fits_alone alone;           /* by pending.c and turns.c */
    const struct headline *headline; /* the verdict; NULL: it was not judged; by pending.c */
};

/* A group of which pods wait for each other, where groups are planned. */
struct waiting_gang {
    const char *key; /* "namespace/name" */
    struct gang gang;
    struct gang_plan plan; /* no place is chosen */
    UT_hash_handle hh;     /* by key */
};

struct pod_copies {
    struct pod_copy *items;
    size_t n;
    size_t n_all; /* before the limit */
    struct shared_shape *shapes;
    struct shared_peers *peers;
    struct waiting_gang *gangs; /* of pod_copy_waiting() */
    size_t n_gangs;
    struct waiting_gang *gangs_by_key;
    struct provenance provenance;
};

/* NULL: the pod is scheduled by itself. */
const struct waiting_gang *pod_copy_gang(const struct pod_copies *copies, const struct pod *pod,
                                         struct arena *arena);

/* Unfinished pods without a node that is_chosen() takes, GPU pods or not. It is called under the
 * inventory's lock. Over the limit, those that kube-scheduler takes first: by priority, then by
 * age. All in the arena. */
struct pod_copies pod_copy_waiting(struct inventory *inventory,
                                   bool (*is_chosen)(void *context, const struct pod *pod),
                                   void *context, struct arena *arena);
/* A page of pods in the order of namespace and name. */
struct pod_page {
    /* Under the inventory's lock. */
    bool (*admits)(const void *context, const struct cluster *cluster, const struct pod *pod);
    const void *context;
    const char *after_namespace, *after_name; /* only later ones; "": all */
    size_t limit;                             /* from 1 to POD_COPIES_MAX */
};
/* n_all exceeds n if more follow the page. */
struct pod_copies pod_copy_page(struct inventory *inventory, const struct pod_page *page,
                                struct arena *arena);
/* Whether it is unfinished, without a node, not being deleted, and asks for GPUs or claims. */
bool pod_copy_is_pending(const struct pod *pod);
/* The pod of that name, if any. */
struct pod_copies pod_copy_named(struct inventory *inventory, const char *namespace_,
                                 const char *name, struct arena *arena);
/* The peers that a fork must have to judge these pods. */
enum peers_wanted pod_copy_peers_wanted(const struct pod_copies *copies);
void pod_copy_fini(struct pod_copies *copies);

/* In the order of kube-scheduler: by priority, age and name. */
int pod_copy_compare(const struct pod *a, const struct pod *b);
/* Most pods whose turn before another is tried. */
#define POD_BEFORE_MAX ((size_t)100)
/* Those that kube-scheduler takes before one of n alike pods of the copy's workload, in order, up
 * to one more than that; in the arena. */
const struct pod_copy **pod_copy_before(const struct pod_copies *waiting,
                                        const struct pod_copy *copy, int64_t n, struct arena *arena,
                                        size_t *ret_n);

#endif
