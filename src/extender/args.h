/*
 * args: ExtenderArgs, what filter and prioritize are asked, and what that asks of the ledger.
 * Private to extender.
 */
#ifndef EXTENDER_ARGS_H
#define EXTENDER_ARGS_H

#include "base/err.h"
#include "decide/fit.h"
#include "http/exchange.h"
#include "types/facts.h"
#include "types/policy.h"

#include <jansson.h>

struct args {
    json_t *root;            /* owns everything below that points to JSON; args_fini() */
    struct pod_facts pod;    /* in the exchange's arena; refusal set where the pod is invalid */
    const char *pod_version; /* metadata.resourceVersion; "" where it has none */
    const char **names;      /* the nodes asked about, in the order received */
    size_t n_names;
    bool is_deferred; /* kube-scheduler decides among the nodes that fit, by what the pod prefers */
    bool has_nodes;   /* nodeCacheCapable is false: they came whole, and go back so */
    const json_t *nodes; /* Nodes.items, the same nodes; NULL where there are none */
};

/* The member Pod. -EINVAL: there is none. */
int args_read_pod(const json_t *root, struct arena *arena, const struct policy *policy,
                  struct pod_facts *ret_pod, struct err *err);
/* What filter, prioritize and preempt ask about the pod: fit_question_of(). */
struct fit_question args_question(const struct cluster *cluster, const struct pod_facts *pod,
                                  struct arena *arena);
/* -EINVAL: no JSON, no Pod, neither Nodes nor NodeNames, or a member of the wrong type. */
int args_init(struct args *ret_args, struct exchange *exchange, const struct policy *policy,
              struct err *err);
void args_fini(struct args *args);

#endif
