/*
 * fake_sender: an API server whose answers and times the test controls. It keeps a list of
 * unanswered requests, oldest first. Thread-safe.
 */
#ifndef FAKE_SENDER_H
#define FAKE_SENDER_H

#include "kube/request.h"

#include <pthread.h>

struct fake_request {
    char *method;
    char *path;
    char *body; /* "" if there is none */
    int64_t timeout_ms;
    bool (*may_leave)(void *context, int64_t now_ms); /* called only by the test */
    void *may_leave_context;
    kube_done *done;
    void *context;
    struct fake_request *next;
};

struct fake_sender {
    pthread_mutex_t lock;
    struct fake_request *requests;
    size_t n_sent; /* in total */
};

void fake_sender_init(struct fake_sender *fake);
/* Answers pending requests with KUBE_UNKNOWN, as a loop does when it stops. */
void fake_sender_fini(struct fake_sender *fake);
struct kube_sender fake_sender_of(struct fake_sender *fake);

/* Takes the oldest request off the list; NULL: none. The caller owns it and passes it to one of the
 * functions below. */
struct fake_request *fake_sender_take(struct fake_sender *fake);
void fake_request_answer(struct fake_request *request, const struct kube_answer *answer);

#endif
