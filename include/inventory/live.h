/*
 * live: the ledger fed from the API server, through one reflector a kind.
 *
 * The rows say what is watched and where the objects go: decoded outside the lock, put into the
 * ledger under it. An object that cannot be read is told in the log and kept as a problem until it
 * can be, or is gone; what was known of it before stays. After every relist, and at a slow pace all
 * the time, the ledger's sums are made again from its pods (self-check); a difference is logged and
 * counted.
 */
#ifndef INVENTORY_LIVE_H
#define INVENTORY_LIVE_H

#include "inventory/inventory.h"
#include "kube/reflector.h"

/* Nodes, pods, namespaces, priority classes, device classes; ended by a row whose name is NULL. */
extern const struct reflector_kind INVENTORY_KINDS[];

/* From now on the inventory follows an API server ("https://10.0.0.1:6443"), and is not ready until
 * every kind has been listed. Before any store is used, and instead of inventory_load_file(). */
void inventory_go_live(struct inventory *inventory, const char *server);
/* The store of INVENTORY_KINDS[i]; its functions may be called by one thread at a time. */
struct reflector_store inventory_store(struct inventory *inventory, size_t i);

/* turned is called when inventory_usable() begins or ceases to say yes, on the thread of the store
 * that it is because of. Before any store is used. */
void inventory_on_turn(struct inventory *inventory, void (*turned)(void *context), void *context);

/* Checks the next few nodes' sums; returns when to be called again. A kube_task. */
int64_t inventory_self_check(void *inventory, int64_t now_ms);

/* Of all kinds: relists by cause, watches, events, age of the data, differences found by the
 * self-check: Prometheus text. Nothing where it is not live. */
void inventory_live_metrics(struct inventory *inventory, struct buf *out);

#endif
