/* api_server: see checks.h. */
#include "checks.h"

#include "base/mem.h"
#include "base/mutex.h"
#include "formats/json_parse.h"
#include "formats/json_values.h"
#include "kube/loop.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_MS 15000
#define CONNECTIONS 4

struct api_server {
    struct kube_loop *loop;
};

/* A request under way. */
struct api_question {
    struct mutex lock; /* guards the rest */
    pthread_cond_t answered;
    bool done;
    struct api_reply *reply;
};

int api_server_open(const struct kube_target *target, struct kube_credentials *credentials,
                    size_t max_answer_bytes, struct api_server **ret_server, struct err *err)
{
    const struct kube_loop_settings settings = {
        .name = "ask", .max_answer_bytes = max_answer_bytes, .max_connections = CONNECTIONS};
    struct api_server *server = MEM_NEW(struct api_server);
    int r = kube_loop_new(&settings, target, credentials, &server->loop, err);
    if (r == 0)
        r = kube_loop_start(server->loop, err);
    if (r < 0) {
        kube_loop_free(server->loop);
        free(server);
        return r;
    }
    *ret_server = server;
    return 0;
}

void api_server_close(struct api_server *server)
{
    if (!server)
        return;
    kube_loop_stop(server->loop);
    kube_loop_free(server->loop);
    free(server);
}

/* A server's own words are not repeated: they may be long, and are not needed. */
static void read_answer(const struct kube_answer *answer, struct api_reply *reply)
{
    if (answer->outcome != KUBE_ANSWERED) {
        (void)snprintf(reply->why, sizeof reply->why, "no answer: %s", answer->why);
        return;
    }
    reply->status = answer->status;
    (void)snprintf(reply->why, sizeof reply->why, "the API server answered %u", answer->status);
    if (answer->status < 200 || answer->status >= 300)
        return;
    json_t *object = NULL;
    (void)json_parse(answer->body, answer->body_len, JSON_REJECT_DUPLICATES, &JSON_OWN, &object,
                     NULL);
    if (json_is_object(object)) {
        reply->object = object;
        return;
    }
    json_decref(object);
    (void)snprintf(reply->why, sizeof reply->why, "the API server's answer is no JSON object");
}

static void on_answer(void *context, const struct kube_answer *answer)
{
    struct api_question *question = context;
    mutex_lock(&question->lock);
    read_answer(answer, question->reply);
    question->done = true;
    (void)pthread_cond_signal(&question->answered);
    mutex_unlock(&question->lock);
}

/* The sender answers every request, in the time of the request. */
static void wait_for(struct api_question *question)
{
    mutex_lock(&question->lock);
    while (!question->done)
        (void)pthread_cond_wait(&question->answered, &question->lock.native);
    mutex_unlock(&question->lock);
}

void api_server_ask(struct api_server *server, const char *path, json_t *body,
                    struct api_reply *ret_reply)
{
    *ret_reply = (struct api_reply){.status = 0};
    size_t len = 0;
    char *text CLEANUP(mem_free_ptr) = body ? json_take_text(body, JSON_COMPACT, &len) : NULL;
    struct api_question question = {.reply = ret_reply};
    const struct kube_request request = {.method = text ? "POST" : "GET",
                                         .path = path,
                                         .body = text,
                                         .body_len = len,
                                         .timeout_ms = ANSWER_MS,
                                         .only_asks = true};
    const struct kube_sender sender = kube_loop_sender(server->loop);
    mutex_init(&question.lock);
    (void)pthread_cond_init(&question.answered, NULL);
    sender.send(sender.sender, &request, on_answer, &question);
    wait_for(&question);
    (void)pthread_cond_destroy(&question.answered);
    mutex_fini(&question.lock);
}

void api_reply_fini(struct api_reply *reply)
{
    json_decref(reply->object);
    reply->object = NULL;
}
