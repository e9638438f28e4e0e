/*
 * beside: an instance beside each kube-scheduler (scheduler.beside): a verb that is called after a
 * pause waits, for up to a second, until the ledger is up to date (kube/regain.h). live_mode owns
 * it; the verbs' gate asks it.
 */
#ifndef DAEMON_BESIDE_H
#define DAEMON_BESIDE_H

#include "base/buf.h"
#include "config/settings.h"
#include "http/exchange.h"
#include "kube/loop.h"
#include "kube/watch.h"

struct beside;

/* Before the loop starts. All borrowed. loop: the write loop. pods: whose store is to be up to
 * date. */
struct beside *beside_new(const struct settings *settings, struct kube_loop *loop,
                          struct kube_watch *pods);
/* After the loop and the server have stopped. Answers calls that still wait. */
void beside_free(struct beside *beside);

/* How long after its call a binding may still be sent, so that it is over before another
 * kube-scheduler may lead. */
int64_t beside_leave_ms(const struct settings *settings);

/* A gate's ask(): the request is complete. It passes at once, or when the ledger is up to date, or
 * gets a 503 without a body, and kube-scheduler retries the pod. All waits of one pause end within
 * a second. */
void beside_ask(struct beside *beside, struct exchange *exchange);

/* Prometheus text; nothing where beside is NULL. */
void beside_metrics(const struct beside *beside, struct buf *out);

#endif
