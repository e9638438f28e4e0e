/*
 * live: feeds the ledger from the API server, with one reflector per kind.
 *
 * Objects are decoded outside the lock and put into the ledger under it. An object that cannot be
 * read is logged, and listed as a problem until it is readable or deleted; the ledger keeps its
 * last known state. After every relist, and slowly all the time, the ledger recomputes its sums
 * from its pods (self-check). A difference is logged and counted.
 */
#ifndef INVENTORY_LIVE_H
#define INVENTORY_LIVE_H

#include "inventory/inventory.h"
#include "kube/reflector.h"
#include "kube/request.h"

/* Makes the inventory follow an API server ("https://10.0.0.1:6443"); it is ready once every kind
 * has been listed. Call it before any store is used, and instead of inventory_load_file(). */
void inventory_go_live(struct inventory *inventory, const char *server);
/* The store of INVENTORY_KINDS[i]; call its functions from one thread at a time. */
struct reflector_store inventory_store(struct inventory *inventory, size_t i);

/* The kind and the store of pods in phase Failed, of which only the reason is read: they tell which
 * nodes are sick (ledger/quarantine.h). Without them all else goes on. */
extern const struct reflector_kind INVENTORY_FAILED_PODS;
struct reflector_store inventory_failed_pods(struct inventory *inventory);
/* Ends quarantines whose time is over; returns when to be called again. A kube_task. */
int64_t inventory_quarantine(void *inventory, int64_t now_ms);

/* turned() is called when the result of inventory_usable() changes, on the thread of the store that
 * caused it. Set it before any store is used. */
void inventory_on_turn(struct inventory *inventory, void (*turned)(void *context), void *context);

/* Puts another policy in force, and holds it. Copies the ledger in steps under the read lock, then
 * replaces it: decisions go on meanwhile, by the old policy. Call it on the thread of the stores:
 * their events wait. */
void inventory_take_policy(struct inventory *inventory, const struct policy *policy);
/* Frees the old ledger once its forks are freed. Call it after inventory_take_policy(), on a thread
 * that may wait. */
void inventory_free_replaced(struct inventory *inventory);

/* seen() is called for each pod that a list or watch shows on a node, and, with node NULL, for each
 * that a watch shows as deleted: on the thread of the store, after the ledger has it, without a
 * lock. Set it before any store is used. */
void inventory_on_pods(struct inventory *inventory,
                       void (*seen)(void *context, const char *uid, const char *node),
                       void *context);

/* helped() is called after a change that may help rejected pods, and that kube-scheduler does not
 * see. CLUSTER_NAMESPACES: a namespace has other labels, and the policy selects by label.
 * CLUSTER_NODES: a node is not avoided any more. Another kind: claims are counted again. As seen()
 * above. */
void inventory_on_help(struct inventory *inventory,
                       void (*helped)(void *context, enum cluster_kind kind), void *context);

/* Checks the sums of the next nodes; returns when to be called again. A kube_task. */
int64_t inventory_self_check(void *inventory, int64_t now_ms);

/* The sender that asks the API server for its version, and the kube_task that makes it ask: on the
 * thread of the stores. */
void inventory_ask_with(struct inventory *inventory, struct kube_sender sender);
int64_t inventory_ask_version(void *inventory, int64_t now_ms);

/* Relists by cause, watches, events, age of the data and self-check differences of all kinds:
 * Prometheus text. Nothing if the inventory is not live. */
void inventory_live_metrics(struct inventory *inventory, struct buf *out);

#endif
