/*
 * fake_sender: an API server that answers when, and what, the test says. One list of the requests
 * that were sent and not yet answered, the oldest first. May be used by several threads.
 */
#ifndef FAKE_SENDER_H
#define FAKE_SENDER_H

#include "kube/request.h"

#include <pthread.h>

struct fake_request {
    char *method;
    char *path;
    char *body; /* "" where there is none */
    int64_t timeout_ms;
    bool (*may_leave)(void *context, int64_t now_ms); /* nobody asks it but the test */
    void *may_leave_context;
    kube_done *done;
    void *context;
    struct fake_request *next;
};

struct fake_sender {
    pthread_mutex_t lock;
    struct fake_request *requests;
    size_t n_sent; /* ever */
};

void fake_sender_init(struct fake_sender *fake);
/* What is not answered is answered KUBE_UNKNOWN, as when a loop stops. */
void fake_sender_fini(struct fake_sender *fake);
struct kube_sender fake_sender_of(struct fake_sender *fake);

/* The oldest, which leaves the list; NULL: there is none. It is the caller's, for one of those
 * below. */
struct fake_request *fake_sender_take(struct fake_sender *fake);
void fake_request_answer(struct fake_request *request, const struct kube_answer *answer);

#endif
