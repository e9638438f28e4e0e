/*
 * regain: an instance beside a kube-scheduler brings its ledger up to date after a pause.
 *
 * Such an instance has no Lease: kube-scheduler's Lease decides which instance is called. Each verb
 * shows that its kube-scheduler led then. Within idle_ms after a verb no other kube-scheduler can
 * have led (idle_ms is at most its lease duration less its renew deadline). After a longer pause
 * another instance may have bound pods, so the ledger must be brought up to date before the next
 * answer.
 *
 * It reads kube-scheduler's Lease first, which costs one GET. If the Lease was renewed, and is
 * otherwise unchanged (UID, holder, transitions) since the ledger was last up to date, no other
 * kube-scheduler has led. In all other cases, and if the Lease cannot be read, the ledger catches
 * up as a new leader's does (leadership.h). The Lease is read before the catching up begins, so the
 * next reading sees a later change.
 *
 * Runs on the sender's thread, driven by answers and as a kube_task. It has no clock of its own.
 * Functions marked "from any thread" are the exception.
 */
#ifndef KUBE_REGAIN_H
#define KUBE_REGAIN_H

#include "base/buf.h"
#include "kube/catch_up.h"
#include "kube/request.h"

struct regain;

struct regain_settings {
    struct catch_up_watch pods;
    int64_t idle_ms;
    /* Until then a binding of this instance's predecessor may take effect, so regain sends
     * nothing. */
    int64_t start_ms;
};

/* Borrows the texts in settings until regain_free(). */
struct regain *regain_new(const struct regain_settings *settings, struct kube_sender sender);
/* Call after the sender has stopped. */
void regain_free(struct regain *regain);

/* Records a verb. True: the ledger is up to date. False: it is being brought up to date, and the
 * caller must wake the loop that runs the task. From any thread. */
bool regain_heard(struct regain *regain, int64_t now_ms);
/* Whether the ledger is up to date since the last recorded verb. From any thread. */
bool regain_is_done(struct regain *regain);

/* A kube_task. */
int64_t regain_tick(void *regain_context, int64_t now_ms);

/* Writes Prometheus text. From any thread. */
void regain_metrics(struct regain *regain, struct buf *out);

#endif
