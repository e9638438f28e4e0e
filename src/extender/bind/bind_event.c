/* bind_event: see bind_event.h. */
#include "extender/bind/bind_event.h"
#include "base/mem.h"
#include "extender/bind/bind_entry.h"
#include "extender/bind/bind_wire.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

struct event_request {
    struct bind_entry *entry;
    struct kube_request request;
    kube_done *done;
    struct event_request *next;
};

struct event_answer {
    struct bind_caller *caller;
    enum bind_outcome outcome;
    const char *text;
    int64_t took_ms;
    struct event_answer *next;
};

struct notice {
    enum log_level level;
    const char *message, *key, *value, *namespace_, *name, *node_name;
    struct notice *next;
};

void bind_event_init(struct bind_event *event, struct binds *binds, int64_t now_ms)
{
    *event = (struct bind_event){.binds = binds, .arena = arena_new(), .now_ms = now_ms};
}

void bind_event_lock(struct bind_event *event)
{
    mutex_lock(&event->binds->lock);
}

static void ask(struct bind_event *event, struct bind_entry *entry,
                const struct kube_request *request, kube_done *done)
{
    struct event_request *item = ARENA_NEW(event->arena, struct event_request);
    *item = (struct event_request){.entry = entry, .request = *request, .done = done};
    LL_APPEND(event->requests, item);
}

void bind_event_post(struct bind_event *event, struct bind_entry *entry, int64_t timeout_ms,
                     kube_done *done)
{
    const struct binds *binds = event->binds;
    const char *body = bind_wire_body(&entry->args, binds->bound_by, event->arena);
    const struct kube_request request = {
        .method = "POST",
        .path = bind_wire_post_path(&entry->args, binds->timing.post_life_ms, event->arena),
        .body = body,
        .body_len = strlen(body),
        .timeout_ms = timeout_ms,
        .may_leave = bind_entry_may_leave,
        .may_leave_context = entry,
    };
    ask(event, entry, &request, done);
}

void bind_event_get(struct bind_event *event, struct bind_entry *entry, int64_t timeout_ms,
                    kube_done *done)
{
    const struct kube_request request = {
        .method = "GET",
        .path = bind_wire_get_path(&entry->args, event->arena),
        .timeout_ms = timeout_ms,
    };
    ask(event, entry, &request, done);
}

void bind_event_answer(struct bind_event *event, struct bind_caller *caller,
                       enum bind_outcome outcome, const char *text)
{
    struct binds *binds = event->binds;
    struct event_answer *answered = ARENA_NEW(event->arena, struct event_answer);
    const int64_t took_ms = event->now_ms - caller->called_ms;
    *answered = (struct event_answer){.caller = caller,
                                      .outcome = outcome,
                                      .text = text ? arena_strdup(event->arena, text) : NULL,
                                      .took_ms = took_ms > 0 ? took_ms : 0};
    LL_APPEND(event->answers, answered);
    histogram_observe_ns(&binds->duration, (uint64_t)answered->took_ms * 1000000U);
    counter_add(&binds->outcomes[outcome], 1);
}

void bind_event_note(struct bind_event *event, const struct bind_entry *entry, enum log_level level,
                     const char *message, const char *key, const char *value)
{
    struct notice *notice = ARENA_NEW(event->arena, struct notice);
    *notice = (struct notice){.level = level,
                              .message = message,
                              .key = key,
                              .value = arena_strdup(event->arena, value),
                              .namespace_ = arena_strdup(event->arena, entry->args.namespace_),
                              .name = arena_strdup(event->arena, entry->args.name),
                              .node_name = arena_strdup(event->arena, entry->args.node_name)};
    LL_APPEND(event->notices, notice);
}

static void send_all(struct bind_event *event)
{
    struct binds *binds = event->binds;
    mutex_lock(&binds->sending);
    struct event_request *item = NULL;
    LL_FOREACH (event->requests, item) {
        if (!binds->closed)
            binds->sender.send(binds->sender.sender, &item->request, item->done, item->entry);
    }
    mutex_unlock(&binds->sending);
}

static void write_notices(const struct bind_event *event)
{
    const struct notice *notice = NULL;
    LL_FOREACH (event->notices, notice)
        LOG(notice->level, "binds", LOG_MSG(notice->message),
            LOG_STR("namespace", notice->namespace_), LOG_STR("pod", notice->name),
            LOG_STR("node", notice->node_name), LOG_STR(notice->key, notice->value));
}

static void write_answer(const struct event_answer *answered)
{
    const struct bind_caller *caller = answered->caller;
    LOG(LOG_INFO, "binds", LOG_MSG(answered->text ? "not bound" : "bound"),
        LOG_STR("namespace", caller->args.namespace_), LOG_STR("pod", caller->args.name),
        LOG_STR("uid", caller->args.uid), LOG_STR("node", caller->args.node_name),
        LOG_STR("outcome", bind_entry_outcome_name(answered->outcome)),
        LOG_NUM("took_ms", answered->took_ms), {answered->text ? "why" : NULL, answered->text, 0});
}

void bind_event_end(struct bind_event *event)
{
    mutex_unlock(&event->binds->lock);
    if (event->requests)
        send_all(event);
    const struct event_answer *answered = NULL;
    LL_FOREACH (event->answers, answered)
        answered->caller->answer(answered->caller->context, answered->text);
    write_notices(event);
    LL_FOREACH (event->answers, answered) {
        write_answer(answered);
        bind_entry_free_args(&answered->caller->args);
        free(answered->caller);
    }
    arena_free(event->arena);
}

void bind_event_close(struct binds *binds)
{
    mutex_lock(&binds->sending);
    binds->closed = true;
    mutex_unlock(&binds->sending);
}
