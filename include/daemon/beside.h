/*
 * beside: an instance beside each kube-scheduler (scheduler.beside): the first verb after a pause
 * waits, up to a second, until the ledger is up to date (kube/regain.h). live_mode owns it; the
 * verbs' gate asks it.
 */
#ifndef DAEMON_BESIDE_H
#define DAEMON_BESIDE_H

#include "base/buf.h"
#include "config/settings.h"
#include "http/exchange.h"
#include "kube/loop.h"
#include "kube/watch.h"

struct beside;

/* Call before the loop starts. Borrows all until beside_free(). loop: the write loop. pods: the
 * watch that feeds the ledger. */
struct beside *beside_new(const struct settings *settings, struct kube_loop *loop,
                          struct kube_watch *pods);
/* Call after the loop and the server have stopped. Answers waiting calls. */
void beside_free(struct beside *beside);

/* How long after its call a binding may be sent, so that it takes effect before another
 * kube-scheduler may lead. */
int64_t beside_leave_ms(const struct settings *settings);

/* A gate's ask(). Passes the request at once, or when the ledger is up to date; else answers 503
 * without a body, and kube-scheduler retries the pod. All waits of one pause end within a
 * second. */
void beside_ask(struct beside *beside, struct exchange *exchange);

/* Writes Prometheus text; nothing if beside is NULL. */
void beside_metrics(const struct beside *beside, struct buf *out);

#endif
