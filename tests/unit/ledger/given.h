/*
 * given: a ledger for tests of the ledger and of decisions, and facts written as short texts.
 *
 *   amounts      "cpu=4000 nvidia.com/gpu=8"   separated by spaces; "max" is INT64_MAX
 *   labels       "zone=a,model=Tesla K80"      separated by commas
 *   taints       "dedicated=ml:NoSchedule"     separated by spaces
 *   tolerations  "dedicated=ml:NoSchedule" (Equal), "dedicated:NoExecute", "dedicated", "*"
 *   a term       "zone In a|b AND gpu Exists AND @metadata.name In n1"   (@: a field)
 *   a selector   "TERM OR TERM"                "" is present without terms
 *   models       "H100-80GB, A100"
 *
 * Any other text aborts the test.
 */
#ifndef LEDGER_GIVEN_H
#define LEDGER_GIVEN_H

#include "ledger/cluster.h"

struct given {
    struct policy policy; /* built-in, but with binpack, whose order tests can compute */
    struct arena *arena;  /* owns everything below */
    struct cluster *cluster;
};

/* For cmocka: *state is a struct given. The teardown checks and frees the ledger, if any. */
int given_setup(void **state);
int given_teardown(void **state);

const struct amount *given_amounts(struct given *given, const char *text, size_t *ret_n);
const struct label *given_labels(struct given *given, const char *text, size_t *ret_n);
const struct taint *given_taints(struct given *given, const char *text, size_t *ret_n);
const struct toleration *given_tolerations(struct given *given, const char *text, size_t *ret_n);
const struct gpu_model *given_models(struct given *given, const char *text, size_t *ret_n);
struct selector_term given_term(struct given *given, const char *text);
struct node_selector given_selector(struct given *given, const char *text);
/* As in the legacy annotation: In and NotIn on a model label compare models. */
struct node_selector given_legacy_selector(struct given *given, const char *text);

/* Adds the quota to the policy, and starts a new, empty ledger. */
void given_quota(struct given *given, const struct quota *quota);

/* A ready node with these amounts as capacity and allocatable. */
struct node_facts given_node_facts(struct given *given, const char *name, const char *amounts,
                                   const char *labels);
/* A running pod named like its UID. Adds "pods=1" to the demand. node "": none. */
struct pod_facts given_pod_facts(struct given *given, const char *uid, const char *node,
                                 const char *demand);
struct shape_facts given_shape_facts(struct given *given, const char *demand);

/* Fails the test if the ledger's self-check finds a difference. */
void given_check(const struct given *given);

/* Events; after each the ledger checks itself. */
/* Like given_pod_facts(), in the namespace before the '/' of the UID. */
struct pod_facts given_facts_in_namespace(struct given *given, const char *uid, const char *node,
                                          const char *demand);

void given_node(struct given *given, const char *name, const char *amounts, const char *labels);
void given_node_of(struct given *given, const struct node_facts *facts);
void given_no_node(struct given *given, const char *name);
void given_pod(struct given *given, const char *uid, const char *node, const char *demand);
void given_pod_of(struct given *given, const struct pod_facts *facts);
void given_no_pod(struct given *given, const char *uid);
/* n1 and n2 with 8 nvidia.com/gpu each, and pod p, which needs 6. */
struct given *given_two_nodes(void **state);

/* Amounts in the ledger; -1: the node has no such resource. */
const struct node *given_find(const struct given *given, const char *node);
int64_t given_used(const struct given *given, const char *node, const char *resource);
int64_t given_reserved(const struct given *given, const char *node, const char *resource);
/* INT64_MIN: the node has no such resource. */
int64_t given_free(const struct given *given, const char *node, const char *resource);

/* The shape resolved against the ledger; in the arena. */
const struct pod_shape *given_resolved(struct given *given, const struct shape_facts *facts);

#endif
