/* bind_unjudged: bindings with mode: observe. See binds_post() in include/extender/binds.h. The
 * server's limit on connections bounds their number. */
#include "base/log.h"
#include "base/mem.h"
#include "extender/bind/bind_entry.h"
#include "extender/bind/bind_wire.h"

#include <stdlib.h>
#include <string.h>

struct unjudged {
    struct binds *binds;
    struct bind_args args; /* owns its strings */
    bind_answer *answer;
    void *context;
    int64_t called_ms;
};

static const enum bind_outcome OUTCOMES[] = {
    [POSTED_BOUND] = BIND_OUTCOME_BOUND,       [POSTED_GONE] = BIND_OUTCOME_GONE,
    [POSTED_CONFLICT] = BIND_OUTCOME_CONFLICT, [POSTED_REFUSED] = BIND_OUTCOME_FAILED,
    [POSTED_UNKNOWN] = BIND_OUTCOME_UNKNOWN,   [POSTED_THROTTLED] = BIND_OUTCOME_FAILED,
    [POSTED_NOT_SENT] = BIND_OUTCOME_FAILED,
};

/* why NULL: bound. Frees the call. */
static void end(struct unjudged *call, enum bind_outcome outcome, const char *why, int64_t now_ms)
{
    const int64_t took_ms = now_ms > call->called_ms ? now_ms - call->called_ms : 0;
    counter_add(&call->binds->outcomes[outcome], 1);
    histogram_observe_ns(&call->binds->duration, (uint64_t)took_ms * 1000000U);
    LOG(LOG_INFO, "binds", LOG_MSG(why ? "not bound" : "bound"),
        LOG_STR("namespace", call->args.namespace_), LOG_STR("pod", call->args.name),
        LOG_STR("uid", call->args.uid), LOG_STR("node", call->args.node_name),
        LOG_STR("outcome", bind_entry_outcome_name(outcome)), LOG_NUM("took_ms", took_ms),
        {why ? "why" : NULL, why, 0});
    call->answer(call->context, why);
    bind_entry_free_args(&call->args);
    free(call);
}

static void done(void *context, const struct kube_answer *answer)
{
    struct unjudged *call = context;
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct bind_reply reply;
    bind_wire_read_reply(answer, arena, &reply);
    const bool is_bound = reply.posted == POSTED_BOUND;
    end(call, OUTCOMES[reply.posted],
        is_bound ? NULL : arena_printf(arena, "gpu-extender: %s", reply.why), answer->at_ms);
}

/* On the sender's thread. */
static bool may_leave(void *context, int64_t now_ms)
{
    const struct unjudged *call = context;
    return now_ms < call->called_ms + call->binds->timeout_ms &&
           !(call->args.hung_up && call->args.hung_up(call->context));
}

/* Returns whether it was sent. */
static bool send(struct unjudged *call)
{
    struct binds *binds = call->binds;
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const char *body = bind_wire_body(&call->args, binds->bound_by, arena);
    const struct kube_request request = {
        .method = "POST",
        .path = bind_wire_post_path(&call->args, binds->timing.post_life_ms, arena),
        .body = body,
        .body_len = strlen(body),
        .timeout_ms = binds->timeout_ms,
        .may_leave = may_leave,
        .may_leave_context = call,
    };
    mutex_lock(&binds->sending);
    const bool is_sent = !binds->closed;
    if (is_sent)
        binds->sender.send(binds->sender.sender, &request, done, call);
    mutex_unlock(&binds->sending);
    return is_sent;
}

void binds_post(struct binds *binds, const struct bind_args *args, int64_t now_ms,
                bind_answer *answer, void *context)
{
    struct err err;
    struct unjudged *call = MEM_NEW(struct unjudged);
    *call = (struct unjudged){.binds = binds,
                              .args = bind_entry_copy_args(args),
                              .answer = answer,
                              .context = context,
                              .called_ms = now_ms};
    if (bind_wire_check(args, &err) < 0) {
        err_prefix(&err, "gpu-extender: request: ");
        end(call, BIND_OUTCOME_REFUSED, err.text, now_ms);
    } else if (!send(call)) {
        end(call, BIND_OUTCOME_BUSY, "gpu-extender: the service is stopping", now_ms);
    }
}
