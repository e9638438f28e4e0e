/*
 * node: one node with slices and one pod with claims, for the tests of the allocator.
 *
 * Devices are of the driver "d". Their attributes are "d/model" (a string), "d/index" (a number).
 */
#ifndef NODE_H
#define NODE_H

#include "dra/allocate.h"

#define NODE_SLICES 4
#define NODE_DEVICES 100
#define NODE_CLAIMS (ALLOCATE_CLAIMS_MAX + 1)
#define NODE_REQUESTS 33
#define NODE_WANTS 3

struct node {
    struct arena *arena;
    struct allocate_slice slices[NODE_SLICES];
    struct allocate_device devices[NODE_SLICES][NODE_DEVICES];
    size_t n_slices;
    struct allocate_claim claims[NODE_CLAIMS];
    struct allocate_request requests[NODE_CLAIMS][NODE_REQUESTS];
    struct allocate_want wants[NODE_CLAIMS][NODE_REQUESTS][NODE_WANTS];
    struct allocate_constraint constraints[NODE_CLAIMS]; /* one each */
    size_t n_claims;
    uint64_t max_steps;
    struct allocate_answer answer; /* of the last node_answer() */
};

struct node *node_new(void);
void node_free(struct node **node);

/* A slice of generation 1 that reaches the node, the only one of its pool. */
struct allocate_slice *node_add_slice(struct node *node, const char *pool, const char *name);
/* Its model is "a". */
struct allocate_device *node_add_device(struct node *node, struct allocate_slice *slice,
                                        const char *name);
struct allocate_device *node_add_model(struct node *node, struct allocate_slice *slice,
                                       const char *name, const char *model);
/* n devices, named PREFIX0 and so on. */
void node_add_devices(struct node *node, struct allocate_slice *slice, const char *prefix,
                      size_t n);

struct allocate_claim *node_add_claim(struct node *node);
/* A request of any device, without alternatives. */
struct allocate_want *node_add_request(struct node *node, struct allocate_claim *claim,
                                       int64_t n_devices);
/* Another alternative of the claim's last request. */
struct allocate_want *node_add_alternative(struct node *node, const struct allocate_claim *claim,
                                           int64_t n_devices);
void node_select(struct node *node, struct allocate_want *want, const char *expression);
/* The only constraint, on "d/model" or the like, for all requests. */
struct allocate_constraint *node_constrain(struct node *node, struct allocate_claim *claim,
                                           enum allocate_constraint_kind kind,
                                           const char *attribute);

/* The devices, those of a request after "," and those of a claim after ";": "a0 a1,b0;a2". Or the
 * message. */
const char *node_answer(struct node *node);

#endif
