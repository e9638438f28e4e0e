/*
 * live_mode: what the program adds when it follows an API server: credentials, the loops, a watch
 * for each kind, the calls that wait for these, and the bindings. Creation in order, the stop in
 * reverse order. main owns it. Over a cluster file there is none, and main passes NULL: every
 * function but live_mode_start() and live_mode_is_alive() then does and gives nothing.
 */
#ifndef DAEMON_LIVE_MODE_H
#define DAEMON_LIVE_MODE_H

#include "config/options.h"
#include "config/settings.h"
#include "daemon/beside.h"
#include "daemon/election.h"
#include "extender/binds.h"
#include "extender/waits.h"
#include "inventory/inventory.h"
#include "kube/request.h"
#include "kube/target.h"

struct live_mode;

/* Which API server, by the options and the environment. */
int live_mode_find(const struct options *options, struct kube_target *ret_target, struct err *err);

/* Creates everything and sends nothing. Takes the target over, even if it fails; borrows the rest.
 */
int live_mode_new(const struct settings *settings, struct inventory *inventory,
                  struct kube_target *target, struct live_mode **ret_live, struct err *err);
/* How many file descriptors it may have open. */
unsigned live_mode_files(const struct live_mode *live);
int live_mode_start(struct live_mode *live, struct err *err);
/* With other replicas: rejects new calls of kube-scheduler, waits for the bindings under way and
 * gives the Lease up. Before the HTTP server drains, so that a slow client delays no other replica.
 */
void live_mode_hand_over(struct live_mode *live);
/* Whether the read loop and the write loop go round; else which of them does not. From any thread.
 */
bool live_mode_is_alive(void *live, struct err *ret_why);
/* After the HTTP server has drained. */
void live_mode_stop(struct live_mode *live);
void live_mode_free(struct live_mode *live);

struct binds *live_mode_binds(struct live_mode *live);
struct waits *live_mode_waits(struct live_mode *live);
/* For reviews of tokens, valid until live_mode_stop(); without TLS none. */
struct kube_sender live_mode_reviewer(struct live_mode *live);
/* NULL: no instance beside each kube-scheduler. */
struct beside *live_mode_beside(struct live_mode *live);
/* NULL: this replica is the only one. */
struct election *live_mode_election(struct live_mode *live);

#endif
