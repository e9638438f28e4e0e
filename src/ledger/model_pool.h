/*
 * model_pool: the counting of free GPUs by resource and model, beside each change of a node.
 * Private to ledger.
 */
#ifndef LEDGER_MODEL_POOL_H
#define LEDGER_MODEL_POOL_H

struct cluster;
struct node;
struct node_resource;

/* The node's GPUs are on offer, by what it is and has now; or no longer. Between the two its traits
 * and what it advertises may change. */
void model_pool_enter(struct cluster *cluster, struct node *node);
void model_pool_leave(struct node *node);
/* Around every change of what is used or reserved of a resource. */
void model_pool_take(struct node_resource *entry);
void model_pool_give(struct node_resource *entry);

#endif
