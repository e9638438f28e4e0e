/*
 * plain_facts: the plain model's numbers as facts for a ledger. An index stands for a name: equal
 * numbers are equal names.
 */
#ifndef DECIDE_PLAIN_FACTS_H
#define DECIDE_PLAIN_FACTS_H

#include "plain.h"
#include "types/facts.h"

/* Storage for the facts; both have the same lifetime. */
struct plain_parts {
    char uid[16];
    char name[16];
    struct label labels[2];
    struct amount amounts[2 * N_PLAIN_RESOURCES];
    struct requirement requirement;
};

struct node_facts plain_facts_of_node(size_t i, const struct plain_node *node,
                                      struct plain_parts *parts);
struct pod_facts plain_facts_of_pod(size_t i, const struct plain_pod *pod,
                                    struct plain_parts *parts);
struct shape_facts plain_facts_of_shape(const struct plain_shape *shape, struct plain_parts *parts);

const char *plain_facts_uid(size_t pod, char *text);
const char *plain_facts_node_name(int64_t node); /* "" for PLAIN_NOWHERE */
const char *plain_facts_chip(int64_t model);     /* as parsed from the label */
const char *plain_facts_zone(int64_t zone);      /* "" for none */
const char *plain_facts_pod_name(int64_t name, char *text);
const char *plain_facts_owner(int64_t owner);
const char *plain_facts_refusal(int64_t refusal); /* NULL for none */

/* Number of choices, including none. */
#define PLAIN_MODELS 4
#define PLAIN_ZONES 4
#define PLAIN_TAINTS 3
#define PLAIN_TOLERATIONS 3
#define PLAIN_REFUSALS 3
#define PLAIN_OWNERS 4

#endif
