/*
 * fixture: a ledger for tests of the ledger and of decisions, and facts written as short texts.
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
#ifndef LEDGER_FIXTURE_H
#define LEDGER_FIXTURE_H

#include "ledger/cluster.h"

struct fixture {
    struct policy policy; /* built-in, but with binpack, whose order tests can compute */
    struct arena *arena;  /* owns everything below */
    struct cluster *cluster;
};

/* For cmocka: *state is a struct fixture. The teardown checks and frees the ledger, if any. */
int fixture_setup(void **state);
int fixture_teardown(void **state);
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)

const struct amount *fixture_amounts(struct fixture *fixture, const char *text, size_t *ret_n);
const struct label *fixture_labels(struct fixture *fixture, const char *text, size_t *ret_n);
const struct taint *fixture_taints(struct fixture *fixture, const char *text, size_t *ret_n);
const struct toleration *fixture_tolerations(struct fixture *fixture, const char *text,
                                             size_t *ret_n);
const struct gpu_model *fixture_models(struct fixture *fixture, const char *text, size_t *ret_n);
struct selector_term fixture_term(struct fixture *fixture, const char *text);
struct node_selector fixture_selector(struct fixture *fixture, const char *text);
/* As in the legacy annotation: In and NotIn on a model label compare models. */
struct node_selector fixture_legacy_selector(struct fixture *fixture, const char *text);

/* Adds the quota to the policy, and starts a new, empty ledger. */
void fixture_add_quota(struct fixture *fixture, const struct quota *quota);

/* Sets the policy's topology.levels ("zone,rack"), and starts a new, empty ledger. */
void fixture_set_levels(struct fixture *fixture, const char *keys);

/* A ready node with these amounts as capacity and allocatable. */
struct node_facts fixture_node_facts(struct fixture *fixture, const char *name, const char *amounts,
                                     const char *labels);
/* A running pod named like its UID. Adds "pods=1" to the demand. node "": none. */
struct pod_facts fixture_pod_facts(struct fixture *fixture, const char *uid, const char *node,
                                   const char *demand);
struct shape_facts fixture_shape_facts(struct fixture *fixture, const char *demand);

/* Fails the test if the ledger's self-check finds a difference. */
void fixture_check(const struct fixture *fixture);

/* Events; after each the ledger checks itself. */
/* Like fixture_pod_facts(), in the namespace before the '/' of the UID. */
struct pod_facts fixture_facts_in_namespace(struct fixture *fixture, const char *uid,
                                            const char *node, const char *demand);

void fixture_put_node(struct fixture *fixture, const char *name, const char *amounts,
                      const char *labels);
void fixture_put_node_facts(struct fixture *fixture, const struct node_facts *facts);
void fixture_remove_node(struct fixture *fixture, const char *name);
void fixture_put_pod(struct fixture *fixture, const char *uid, const char *node,
                     const char *demand);
void fixture_put_pod_facts(struct fixture *fixture, const struct pod_facts *facts);
void fixture_remove_pod(struct fixture *fixture, const char *uid);
/* n1 and n2 with 8 nvidia.com/gpu each, and pod p, which needs 6. */
struct fixture *fixture_two_nodes(void **state);

/* Amounts in the ledger; -1: the node has no such resource. */
const struct node *fixture_find_node(const struct fixture *fixture, const char *node);
int64_t fixture_used(const struct fixture *fixture, const char *node, const char *resource);
int64_t fixture_reserved(const struct fixture *fixture, const char *node, const char *resource);
/* INT64_MIN: the node has no such resource. */
int64_t fixture_free_amount(const struct fixture *fixture, const char *node, const char *resource);

/* The shape resolved against the ledger; in the arena. */
const struct pod_shape *fixture_resolve(struct fixture *fixture, const struct shape_facts *facts);

#endif
