/* fake_sender: see fake_sender.h. */
#include "fake_sender.h"
#include "base/mem.h"
#include "kube_answers.h"

#include <stdlib.h>
#include <utlist.h>

static void fake_send(void *sender, const struct kube_request *request, kube_done *done,
                      void *context)
{
    struct fake_sender *fake = sender;
    struct fake_request *copy = MEM_NEW(struct fake_request);
    copy->method = mem_strdup(request->method);
    copy->path = mem_strdup(request->path);
    copy->body = mem_strndup(request->body ? request->body : "", request->body_len);
    copy->timeout_ms = request->timeout_ms;
    copy->may_leave = request->may_leave;
    copy->may_leave_context = request->may_leave_context;
    copy->done = done;
    copy->context = context;
    (void)pthread_mutex_lock(&fake->lock);
    LL_APPEND(fake->requests, copy);
    fake->n_sent++;
    (void)pthread_mutex_unlock(&fake->lock);
}

static void fake_wake(void *sender)
{
    (void)sender;
}

void fake_sender_init(struct fake_sender *fake)
{
    *fake = (struct fake_sender){0};
    (void)pthread_mutex_init(&fake->lock, NULL);
}

void fake_sender_fini(struct fake_sender *fake)
{
    const struct kube_answer stopped = kube_unanswered(0, KUBE_UNKNOWN, "stopped");
    struct fake_request *request = NULL;
    while ((request = fake_sender_take(fake)))
        fake_request_answer(request, &stopped);
    (void)pthread_mutex_destroy(&fake->lock);
}

struct kube_sender fake_sender_of(struct fake_sender *fake)
{
    return (struct kube_sender){fake_send, fake_wake, fake};
}

struct fake_request *fake_sender_take(struct fake_sender *fake)
{
    (void)pthread_mutex_lock(&fake->lock);
    struct fake_request *request = fake->requests;
    if (request)
        LL_DELETE(fake->requests, request);
    (void)pthread_mutex_unlock(&fake->lock);
    return request;
}

void fake_request_answer(struct fake_request *request, const struct kube_answer *answer)
{
    request->done(request->context, answer);
    free(request->method);
    free(request->path);
    free(request->body);
    free(request);
}
