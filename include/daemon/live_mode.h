/*
 * live_mode: everything that follows an API server: credentials, loops, a watch per kind, waiting
 * calls, bindings. Stops in reverse order of creation. main owns it. Over a cluster file main
 * passes NULL; every function but live_mode_start() and live_mode_is_alive() then does nothing.
 */
#ifndef DAEMON_LIVE_MODE_H
#define DAEMON_LIVE_MODE_H

#include "config/options.h"
#include "config/settings.h"
#include "daemon/beside.h"
#include "daemon/election.h"
#include "extender/binds.h"
#include "extender/waits.h"
#include "extender/wake.h"
#include "inventory/inventory.h"
#include "kube/reflector.h"
#include "kube/request.h"
#include "kube/target.h"

struct live_mode;

/* Finds the API server by the options and the environment. */
int live_mode_find(const struct options *options, struct kube_target *ret_target, struct err *err);

/* Creates everything and sends nothing. Takes ownership of the target, even on failure; borrows the
 * rest until live_mode_free(). */
int live_mode_new(const struct settings *settings, struct inventory *inventory,
                  struct kube_target *target, struct live_mode **ret_live, struct err *err);
/* Most file descriptors that it may have open. */
unsigned live_mode_files(const struct live_mode *live);
int live_mode_start(struct live_mode *live, struct err *err);
/* With other replicas: rejects new calls of kube-scheduler, waits for the bindings in progress and
 * gives the Lease up. Call it before the HTTP server drains, so that a slow client delays no other
 * replica. */
void live_mode_hand_over(struct live_mode *live);
/* Whether the read loop and the write loop run; if not, names the one that does not. From any
 * thread. */
bool live_mode_is_alive(void *live, struct err *ret_why);
/* Puts another policy in force, and waits for it. lists_again: objects that were read under the old
 * one are listed again. Between live_mode_start() and live_mode_stop(). */
void live_mode_take_policy(struct live_mode *live, const struct policy *policy, bool lists_again);
/* Call after the HTTP server has drained. */
void live_mode_stop(struct live_mode *live);
void live_mode_free(struct live_mode *live);

struct binds *live_mode_binds(struct live_mode *live);
struct waits *live_mode_waits(struct live_mode *live);
/* NULL: the policy names no object. */
struct wake *live_mode_wake(struct live_mode *live);
struct gang_plans *live_mode_gang_plans(struct live_mode *live);
struct groups *live_mode_groups(struct live_mode *live);
/* Follows the ConfigMap with the front proxy's authorities; needs live_mode_reviewer(). Call before
 * live_mode_start(). Borrows the store until live_mode_free(). */
void live_mode_follow_front(struct live_mode *live, const struct reflector_store *store);
/* For token reviews, valid until live_mode_stop(); send NULL without TLS. */
struct kube_sender live_mode_reviewer(struct live_mode *live);
/* NULL: no instance beside each kube-scheduler. */
struct beside *live_mode_beside(struct live_mode *live);
/* NULL: the only replica. */
struct election *live_mode_election(struct live_mode *live);

#endif
