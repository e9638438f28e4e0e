/*
 * loop: see include/kube/loop.h. The thread, its rounds and its inbox; HTTP is in client.c, the
 * life of a request in stream.c.
 *
 * A round delivers everything that has arrived, then ends late requests, then calls the tasks. So a
 * peer that was served slowly never counts as silent.
 */
#include "kube/loop.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/mutex.h"
#include "socket.h"
#include "stream.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* Arrivals are delivered for at most this time before time-outs and tasks run. */
#define HAND_OVER_MS 200
#define CONNECTIONS_MAX 512
/* While a stream has an on_drained, the loop waits no longer than this. A caller that sees an older
 * look knows that the loop is frozen or busy. */
#define LOOK_MS 1000
/* A round begins at least this often, which shows that the loop is not stuck. */
#define ROUND_MS 5000

struct task {
    kube_task *run;
    void *context;
    int64_t due_ms;
    struct task *next;
};

struct kube_loop {
    char *name;
    size_t max_answer_bytes;
    struct client *client;
    struct streams streams;
    struct task *tasks;
    struct mutex lock;         /* guards inbox */
    struct kube_stream *inbox; /* sent, but not yet in streams */
    atomic_bool woken, stopping;
    atomic_int_fast64_t round_ms; /* when the last round began; 0: never */
    pthread_t thread;
    bool started;
};

int kube_loop_new(const struct kube_loop_settings *settings, const struct kube_target *target,
                  struct kube_credentials *credentials, struct kube_loop **ret_loop,
                  struct err *err)
{
    struct client *client = NULL;
    const struct client_limits limits = {
        .unacked_ms = settings->unacked_ms > 0 ? settings->unacked_ms : SOCKET_UNACKED_MS,
        .max_connections =
            settings->max_connections > 0 ? settings->max_connections : CONNECTIONS_MAX,
    };
    int code = client_new(target, &limits, &client, err);
    if (code < 0)
        return code;
    struct kube_loop *loop = MEM_NEW(struct kube_loop);
    loop->name = mem_strdup(settings->name);
    loop->max_answer_bytes = settings->max_answer_bytes;
    loop->client = client;
    loop->streams = (struct streams){.client = client, .credentials = credentials};
    mutex_init(&loop->lock);
    *ret_loop = loop;
    return 0;
}

void kube_loop_add_task(struct kube_loop *loop, kube_task *run, void *context)
{
    struct task *task = MEM_NEW(struct task);
    task->run = run;
    task->context = context;
    LL_APPEND(loop->tasks, task);
}

/* ---- whole answers ---- */

/* Collects the answer of a request from send(). */
struct whole_answer {
    struct kube_stream *stream;
    struct buf body;
    unsigned status;
    int64_t retry_after_s;
    kube_done *done;
    void *context;
};

static void give_answer(struct whole_answer *whole, int64_t now_ms, enum kube_outcome outcome,
                        const char *why)
{
    bool answered = outcome == KUBE_ANSWERED;
    const struct kube_answer answer = {
        .outcome = outcome,
        .at_ms = now_ms,
        .status = answered ? whole->status : 0,
        .retry_after_s = answered ? whole->retry_after_s : -1,
        .body = answered ? buf_text(&whole->body) : "",
        .body_len = answered ? whole->body.len : 0,
        .why = why,
    };
    whole->done(whole->context, &answer);
    buf_fini(&whole->body);
    free(whole);
}

static void on_head(void *context, int64_t now_ms, unsigned status, int64_t retry_after_s)
{
    (void)now_ms;
    struct whole_answer *whole = context;
    whole->status = status;
    whole->retry_after_s = retry_after_s;
}

static void on_bytes(void *context, int64_t now_ms, const char *bytes, size_t len)
{
    struct whole_answer *whole = context;
    buf_add(&whole->body, bytes, len);
    if (!whole->body.overflowed)
        return;
    char why[80];
    (void)snprintf(why, sizeof(why), "an answer of more than %zu bytes", whole->body.max);
    kube_stream_cancel(whole->stream);
    give_answer(whole, now_ms, KUBE_UNKNOWN, why);
}

static void on_end(void *context, int64_t now_ms, enum kube_outcome outcome, const char *why)
{
    give_answer(context, now_ms, outcome, why);
}

static struct kube_stream *open_whole(const struct kube_request *request, size_t max_answer_bytes,
                                      kube_done *done, void *context)
{
    struct whole_answer *whole = MEM_NEW(struct whole_answer);
    const struct kube_stream_handler handler = {NULL, on_head, on_bytes, on_end, NULL, whole};
    if (request->secret)
        buf_init_secret(&whole->body, max_answer_bytes);
    else
        buf_init(&whole->body, max_answer_bytes);
    whole->retry_after_s = -1;
    whole->done = done;
    whole->context = context;
    whole->stream = stream_new(request, &handler, true);
    return whole->stream;
}

/* ---- from any thread ---- */

static void send(void *sender, const struct kube_request *request, kube_done *done, void *context)
{
    struct kube_loop *loop = sender;
    struct kube_stream *stream = open_whole(request, loop->max_answer_bytes, done, context);
    mutex_lock(&loop->lock);
    DL_APPEND(loop->inbox, stream);
    mutex_unlock(&loop->lock);
    client_wake(loop->client);
}

static void wake(void *sender)
{
    kube_loop_wake(sender);
}

struct kube_sender kube_loop_sender(struct kube_loop *loop)
{
    return (struct kube_sender){send, wake, loop};
}

void kube_loop_wake(struct kube_loop *loop)
{
    atomic_store(&loop->woken, true);
    client_wake(loop->client);
}

int64_t kube_loop_silence_ms(const struct kube_loop *loop, int64_t now_ms)
{
    const int64_t round_ms = atomic_load(&loop->round_ms);
    return round_ms > 0 && now_ms > round_ms ? now_ms - round_ms : 0;
}

/* ---- on the loop's thread ---- */

struct kube_stream *kube_stream_open(struct kube_loop *loop, const struct kube_request *request,
                                     const struct kube_stream_handler *handler)
{
    struct kube_stream *stream = stream_new(request, handler, false);
    streams_add(&loop->streams, stream);
    return stream;
}

static void take_inbox(struct kube_loop *loop)
{
    mutex_lock(&loop->lock);
    struct kube_stream *taken = loop->inbox;
    loop->inbox = NULL;
    mutex_unlock(&loop->lock);
    struct kube_stream *stream = NULL, *next = NULL;
    DL_FOREACH_SAFE (taken, stream, next) {
        DL_DELETE(taken, stream);
        streams_add(&loop->streams, stream);
    }
}

static void hand_over(struct kube_loop *loop)
{
    struct streams *streams = &loop->streams;
    int64_t end_ms = clock_ms() + HAND_OVER_MS;
    bool busy = true;
    while (busy && streams->now_ms < end_ms) {
        if (atomic_exchange(&loop->woken, false))
            streams->touched = streams->renewed = true;
        take_inbox(loop);
        streams->now_ms = clock_ms();
        streams_step(streams);
        busy = client_run(loop->client);
    }
}

static void run_tasks(struct kube_loop *loop)
{
    bool touched = loop->streams.touched;
    loop->streams.touched = false;
    struct task *task = NULL;
    LL_FOREACH (loop->tasks, task) {
        if (touched || task->due_ms <= loop->streams.now_ms)
            task->due_ms = task->run(task->context, loop->streams.now_ms);
    }
}

static int64_t due_ms(const struct kube_loop *loop)
{
    int64_t least_ms = streams_due_ms(&loop->streams);
    const struct task *task = NULL;
    LL_FOREACH (loop->tasks, task) {
        if (task->due_ms < least_ms)
            least_ms = task->due_ms;
    }
    return least_ms;
}

static int64_t wait_ms(const struct kube_loop *loop)
{
    const int64_t until_ms = due_ms(loop);
    const int64_t most_ms = streams_are_looked_at(&loop->streams) ? LOOK_MS : ROUND_MS;
    const int64_t now_ms = clock_ms();
    if (until_ms <= now_ms)
        return 0;
    return until_ms - now_ms < most_ms ? until_ms - now_ms : most_ms;
}

static void *run(void *context)
{
    struct kube_loop *loop = context;
    while (!atomic_load(&loop->stopping)) {
        atomic_store(&loop->round_ms, clock_ms());
        hand_over(loop);
        streams_expire(&loop->streams);
        run_tasks(loop);
        client_wait(loop->client, wait_ms(loop));
    }
    return NULL;
}

/* ---- life ---- */

int kube_loop_start(struct kube_loop *loop, struct err *err)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the main thread */
    int code = pthread_create(&loop->thread, NULL, run, loop);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code != 0)
        return err_set(err, code, "no thread to ask the API server with: %s", strerror(code));
    (void)pthread_setname_np(loop->thread, loop->name);
    loop->started = true;
    return 0;
}

static bool has_requests(struct kube_loop *loop)
{
    take_inbox(loop);
    return loop->streams.list != NULL;
}

void kube_loop_stop(struct kube_loop *loop)
{
    atomic_store(&loop->stopping, true);
    client_wake(loop->client);
    if (loop->started)
        (void)pthread_join(loop->thread, NULL);
    loop->started = false;
    while (has_requests(loop)) {
        loop->streams.now_ms = clock_ms();
        streams_stop(&loop->streams);
    }
}

void kube_loop_free(struct kube_loop *loop)
{
    if (!loop)
        return;
    kube_loop_stop(loop);
    struct task *task = NULL, *next = NULL;
    LL_FOREACH_SAFE(loop->tasks, task, next)
    free(task);
    client_free(loop->client);
    mutex_fini(&loop->lock);
    free(loop->name);
    free(loop);
}
