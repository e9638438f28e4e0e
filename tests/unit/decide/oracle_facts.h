/*
 * oracle_facts: the oracle's numbers as facts for a ledger. An index stands for a name: equal
 * numbers are equal names.
 */
#ifndef DECIDE_ORACLE_FACTS_H
#define DECIDE_ORACLE_FACTS_H

#include "oracle.h"
#include "types/device_facts.h"
#include "types/facts.h"

/* Storage for the facts of a slice or a claim. */
struct oracle_device_parts {
    char name[32];
    char pod[16];
    char holder[16];
    const char *holders[1];
    struct device_facts devices[ORACLE_DEVICES];
    struct claim_result results[ORACLE_RESULTS];
};

const char *oracle_facts_slice_name(size_t node, size_t driver, char *text);
struct slice_facts oracle_facts_of_slice(size_t node, size_t driver,
                                         const struct oracle_slice *slice,
                                         struct oracle_device_parts *parts);
const char *oracle_facts_claim_name(size_t i, char *text);
const char *oracle_facts_class_name(size_t i);
const char *oracle_facts_class_driver(int64_t driver); /* "" for none */
const char *oracle_facts_template_namespace(size_t i);
const char *oracle_facts_template_name(size_t i);
/* wants: storage for ORACLE_WANTS. */
struct claim_template_facts oracle_facts_of_template(size_t i,
                                                     const struct oracle_template *template,
                                                     struct claim_want *wants);
struct claim_facts oracle_facts_of_claim(size_t i, const struct oracle_claim *claim,
                                         struct oracle_device_parts *parts);

/* Storage for the facts; both have the same lifetime. */
struct oracle_parts {
    char uid[16];
    char name[16];
    char claim[32];
    struct label labels[2];
    struct amount amounts[2 * N_ORACLE_RESOURCES];
    struct requirement requirement;
};

struct node_facts oracle_facts_of_node(size_t i, const struct oracle_node *node,
                                       struct oracle_parts *parts);
struct pod_facts oracle_facts_of_pod(size_t i, const struct oracle_pod *pod,
                                     struct oracle_parts *parts);
struct shape_facts oracle_facts_of_shape(const struct oracle_shape *shape,
                                         struct oracle_parts *parts);

const char *oracle_facts_uid(size_t pod, char *text);
const char *oracle_facts_node_name(int64_t node); /* "" for ORACLE_NOWHERE */
const char *oracle_facts_chip(int64_t model);     /* as parsed from the label */
const char *oracle_facts_zone(int64_t zone);      /* "" for none */
const char *oracle_facts_pod_name(int64_t name, char *text);
const char *oracle_facts_owner(int64_t owner);
const char *oracle_facts_refusal(int64_t refusal); /* NULL for none */

/* Number of choices, including none. */
#define ORACLE_MODELS 4
#define ORACLE_ZONES 4
#define ORACLE_TAINTS 3
#define ORACLE_TOLERATIONS 3
#define ORACLE_REFUSALS 3
#define ORACLE_OWNERS 4

#endif
