/*
 * follower: what the program has more of when it follows an API server: credentials, the loops,
 * a watch a kind, the calls that wait for these, and the bindings. Belongs to main.c: creation in
 * order, the stop in reverse order.
 */
#ifndef FOLLOWER_H
#define FOLLOWER_H

#include "beside.h"
#include "config/options.h"
#include "config/settings.h"
#include "election.h"
#include "extender/binds.h"
#include "extender/waits.h"
#include "inventory/inventory.h"
#include "kube/request.h"
#include "kube/target.h"

struct follower;

/* Which API server, by the options and the environment. */
int follower_find(const struct options *options, struct kube_target *ret_target, struct err *err);

/* Everything but the first request. Takes the target over (also when it fails); the rest is
 * borrowed.
 */
int follower_new(const struct settings *settings, struct inventory *inventory,
                 struct kube_target *target, struct follower **ret_follower, struct err *err);
/* How many file descriptors it may have open. */
unsigned follower_files(const struct follower *follower);
int follower_start(struct follower *follower, struct err *err);
/* Where there are other replicas: answers kube-scheduler no more but for the bindings that are
 * under way, and lets another one lead. Before the HTTP server drains: who else is slow to be
 * answered keeps nobody waiting. */
void follower_hand_over(struct follower *follower);
/* Whether both loops go round; else which one does not. From any thread. */
bool follower_is_alive(void *follower, struct err *ret_why);
/* After the HTTP server has drained. */
void follower_stop(struct follower *follower);
void follower_free(struct follower *follower);

struct binds *follower_binds(struct follower *follower);
struct waits *follower_waits(struct follower *follower);
/* For reviews of tokens, valid until follower_stop(); without TLS none. */
struct kube_sender follower_reviewer(struct follower *follower);
/* NULL: no instance beside each kube-scheduler. */
struct beside *follower_beside(struct follower *follower);
/* NULL: this replica is the only one. */
struct election *follower_election(struct follower *follower);

#endif
