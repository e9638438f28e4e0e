/*
 * regain: an instance beside a kube-scheduler brings its ledger up to date after a pause.
 *
 * There is no Lease of ours here: kube-scheduler's decides which instance is asked. Each verb shows
 * that its kube-scheduler led then. Within idle_ms after one (at most kube-scheduler's lease
 * duration less its renew deadline) no other can have led. After a longer pause another instance
 * may have bound pods, so the ledger must be as of now before the next verb is answered.
 *
 * It reads kube-scheduler's Lease first, which costs one GET: renewed, and else unchanged (UID,
 * holder, transitions) since the ledger was last up to date, nobody else has led. Else, or where
 * the Lease cannot be read, the ledger catches up as a new leader's does (leadership.h). The Lease
 * is read before the catching up begins, so a later change of it is seen by the next reading.
 *
 * It works on the sender's thread, by its answers and as a kube_task, and has no clock of its own.
 * Where it says "from any thread" so it is.
 */
#ifndef KUBE_REGAIN_H
#define KUBE_REGAIN_H

#include "base/buf.h"
#include "kube/request.h"

struct regain;

struct regain_settings {
    const char *pods_path; /* "/api/v1/pods" */
    int64_t idle_ms;
    /* Until then what an instance before this one posted may take effect: nothing is asked. */
    int64_t start_ms;
    /* The ledger is to come to that resourceVersion of the pods; NULL: to list them anew. Then
     * regain_reached() with the number. */
    void (*reach)(void *context, uint64_t number, const char *version);
    void *context;
};

/* Texts are borrowed for its life. */
struct regain *regain_new(const struct regain_settings *settings, struct kube_sender sender);
/* After the sender has stopped. */
void regain_free(struct regain *regain);

/* A verb was heard. True: the ledger is as of now. False: it is being brought up to date, and
 * whoever carries the task must be woken. From any thread. */
bool regain_heard(struct regain *regain, int64_t now_ms);
/* Whether it is up to date since the last verb that was heard. From any thread. */
bool regain_is_done(struct regain *regain);

/* A kube_task. */
int64_t regain_tick(void *regain_context, int64_t now_ms);
/* From any thread; whoever carries the task must be woken then. */
void regain_reached(struct regain *regain, uint64_t number);

/* Prometheus text. From any thread. */
void regain_metrics(struct regain *regain, struct buf *out);

#endif
