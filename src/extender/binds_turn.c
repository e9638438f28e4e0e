/* binds_turn: what is done without the lock. See binds_priv.h. */
#include "base/mem.h"
#include "binds_priv.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

struct question {
    struct entry *entry;
    struct kube_request request;
    kube_done *done;
    struct question *next;
};

struct told {
    struct waiter *waiter;
    enum bind_outcome outcome;
    const char *text;
    int64_t took_ms;
    struct told *next;
};

struct notice {
    enum log_level level;
    const char *message, *key, *value, *namespace_, *name, *node_name;
    struct notice *next;
};

void binds_turn_init(struct turn *turn, struct binds *binds, int64_t now_ms)
{
    *turn = (struct turn){.binds = binds, .arena = arena_new(), .now_ms = now_ms};
}

void binds_turn_lock(struct turn *turn)
{
    (void)pthread_mutex_lock(&turn->binds->lock);
}

static void ask(struct turn *turn, struct entry *entry, const struct kube_request *request,
                kube_done *done)
{
    struct question *question = ARENA_NEW(turn->arena, struct question);
    *question = (struct question){.entry = entry, .request = *request, .done = done};
    LL_APPEND(turn->questions, question);
}

void binds_turn_post(struct turn *turn, struct entry *entry, int64_t timeout_ms, kube_done *done)
{
    const struct binds *binds = turn->binds;
    const struct bind_args args = binds_entry_args(entry);
    const char *body = bind_wire_body(&args, binds->bound_by, turn->arena);
    const struct kube_request request = {
        .method = "POST",
        .path = bind_wire_post_path(&args, binds->timing.post_life_ms, turn->arena),
        .body = body,
        .body_len = strlen(body),
        .timeout_ms = timeout_ms,
        .may_leave = binds_leave_may,
        .may_leave_context = entry,
    };
    ask(turn, entry, &request, done);
}

void binds_turn_get(struct turn *turn, struct entry *entry, int64_t timeout_ms, kube_done *done)
{
    const struct bind_args args = binds_entry_args(entry);
    const struct kube_request request = {
        .method = "GET",
        .path = bind_wire_get_path(&args, turn->arena),
        .timeout_ms = timeout_ms,
    };
    ask(turn, entry, &request, done);
}

void binds_turn_tell(struct turn *turn, struct waiter *waiter, enum bind_outcome outcome,
                     const char *text)
{
    struct binds *binds = turn->binds;
    struct told *told = ARENA_NEW(turn->arena, struct told);
    const int64_t took_ms = turn->now_ms - waiter->called_ms;
    *told = (struct told){.waiter = waiter,
                          .outcome = outcome,
                          .text = text ? arena_strdup(turn->arena, text) : NULL,
                          .took_ms = took_ms > 0 ? took_ms : 0};
    LL_APPEND(turn->told, told);
    histogram_observe_ns(&binds->duration, (uint64_t)told->took_ms * 1000000U);
    counter_add(&binds->outcomes[outcome], 1);
}

void binds_turn_note(struct turn *turn, const struct entry *entry, enum log_level level,
                     const char *message, const char *key, const char *value)
{
    struct notice *notice = ARENA_NEW(turn->arena, struct notice);
    *notice = (struct notice){.level = level,
                              .message = message,
                              .key = key,
                              .value = arena_strdup(turn->arena, value),
                              .namespace_ = arena_strdup(turn->arena, entry->namespace_),
                              .name = arena_strdup(turn->arena, entry->name),
                              .node_name = arena_strdup(turn->arena, entry->node_name)};
    LL_APPEND(turn->notices, notice);
}

static void send_all(struct turn *turn)
{
    struct binds *binds = turn->binds;
    (void)pthread_mutex_lock(&binds->sending);
    struct question *question = NULL;
    LL_FOREACH (turn->questions, question) {
        if (!binds->closed)
            binds->sender.send(binds->sender.sender, &question->request, question->done,
                               question->entry);
    }
    (void)pthread_mutex_unlock(&binds->sending);
}

static void write_notices(const struct turn *turn)
{
    const struct notice *notice = NULL;
    LL_FOREACH (turn->notices, notice)
        LOG(notice->level, "binds", LOG_MSG(notice->message),
            LOG_STR("namespace", notice->namespace_), LOG_STR("pod", notice->name),
            LOG_STR("node", notice->node_name), LOG_STR(notice->key, notice->value));
}

static void write_told(const struct told *told)
{
    const struct waiter *waiter = told->waiter;
    LOG(LOG_INFO, "binds", LOG_MSG(told->text ? "not bound" : "bound"),
        LOG_STR("namespace", waiter->namespace_), LOG_STR("pod", waiter->name),
        LOG_STR("uid", waiter->uid), LOG_STR("node", waiter->node_name),
        LOG_STR("outcome", binds_outcome_name(told->outcome)), LOG_NUM("took_ms", told->took_ms),
        {told->text ? "why" : NULL, told->text, 0});
}

static void free_waiter(struct waiter *waiter)
{
    free(waiter->uid);
    free(waiter->namespace_);
    free(waiter->name);
    free(waiter->node_name);
    free(waiter);
}

void binds_turn_end(struct turn *turn)
{
    (void)pthread_mutex_unlock(&turn->binds->lock);
    if (turn->questions)
        send_all(turn);
    const struct told *told = NULL;
    LL_FOREACH (turn->told, told)
        told->waiter->answer(told->waiter->context, told->text);
    write_notices(turn);
    LL_FOREACH (turn->told, told) {
        write_told(told);
        free_waiter(told->waiter);
    }
    arena_free(turn->arena);
}

void binds_turn_close(struct binds *binds)
{
    (void)pthread_mutex_lock(&binds->sending);
    binds->closed = true;
    (void)pthread_mutex_unlock(&binds->sending);
}
