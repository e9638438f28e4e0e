/* question: see question.h. */
#include "question.h"

#include "base/buf.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>

struct question {
    struct kube_stream *stream;
    struct buf body;
    unsigned status;
    int64_t retry_after_s;
    kube_done *done;
    void *context;
};

static void answer(struct question *question, int64_t now_ms, enum kube_outcome outcome,
                   const char *why)
{
    bool answered = outcome == KUBE_ANSWERED;
    const struct kube_answer whole = {
        .outcome = outcome,
        .at_ms = now_ms,
        .status = answered ? question->status : 0,
        .retry_after_s = answered ? question->retry_after_s : -1,
        .body = answered ? buf_text(&question->body) : "",
        .body_len = answered ? question->body.len : 0,
        .why = why,
    };
    question->done(question->context, &whole);
    buf_fini(&question->body);
    free(question);
}

static void on_head(void *context, int64_t now_ms, unsigned status, int64_t retry_after_s)
{
    (void)now_ms;
    struct question *question = context;
    question->status = status;
    question->retry_after_s = retry_after_s;
}

static void on_bytes(void *context, int64_t now_ms, const char *bytes, size_t len)
{
    struct question *question = context;
    if (buf_add(&question->body, bytes, len) == 0)
        return;
    char why[80];
    (void)snprintf(why, sizeof(why), "an answer of more than %zu bytes", question->body.max);
    kube_stream_cancel(question->stream);
    answer(question, now_ms, KUBE_UNKNOWN, why);
}

static void on_end(void *context, int64_t now_ms, enum kube_outcome outcome, const char *why)
{
    answer(context, now_ms, outcome, why);
}

struct kube_stream *question_new(const struct kube_request *request, size_t max_answer_bytes,
                                 kube_done *done, void *context)
{
    struct question *question = MEM_NEW(struct question);
    const struct kube_stream_handler handler = {NULL, on_head, on_bytes, on_end, NULL, question};
    if (request->secret)
        buf_init_secret(&question->body, max_answer_bytes);
    else
        buf_init(&question->body, max_answer_bytes);
    question->retry_after_s = -1;
    question->done = done;
    question->context = context;
    question->stream = stream_new(request, &handler, true);
    return question->stream;
}
