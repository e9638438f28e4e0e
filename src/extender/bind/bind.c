/* bind: see include/extender/extender.h. Progress of a binding: include/extender/binds.h. */
#include "base/clock.h"
#include "extender/answer.h"
#include "extender/extender.h"
#include "formats/json_parse.h"
#include "formats/json_values.h"

/* ExtenderBindingArgs (PROTOCOL 1.6). The texts are root's. */
static int read_arguments(const json_t *root, struct bind_args *ret_args, struct err *err)
{
    struct bind_args args = {0};
    const struct {
        const char *member;
        const char **text;
    } MEMBERS[] = {{"PodName", &args.name},
                   {"PodNamespace", &args.namespace_},
                   {"PodUID", &args.uid},
                   {"Node", &args.node_name}};
    if (!json_is_object(root))
        return err_set(err, EINVAL, "is %s, should be an ExtenderBindingArgs object",
                       json_type_text(root));
    for (size_t i = 0; i < sizeof MEMBERS / sizeof *MEMBERS; i++) {
        const char *text = "";
        int r = json_get_string(root, MEMBERS[i].member, &text, err);
        if (r < 0)
            return r;
        if (!text[0])
            return err_set(err, EINVAL, "%s: is missing", MEMBERS[i].member);
        *MEMBERS[i].text = text;
    }
    *ret_args = args;
    return 0;
}

/* One call until its answer. In the exchange's arena. */
struct bind_call {
    struct extender *extender;
    struct exchange *exchange;
    struct decision decision;
    int64_t began_us;
    enum verb_result failure; /* counted if the call fails */
};

static void note_call(struct bind_call *call, const char *error)
{
    call->decision.error = error;
    call->decision.n_handed_on = !error;
    answer_count(call->extender, DECISION_BIND, error ? call->failure : VERB_OK);
    answer_record(call->extender, &call->decision, call->began_us);
}

/* ExtenderBindingResult. */
static void answer_bind(void *context, const char *error)
{
    struct bind_call *call = context;
    struct exchange *exchange = call->exchange;
    struct buf text;
    note_call(call, error);
    if (error) {
        answer_scheduler_error(exchange, error);
        return;
    }
    buf_init(&text, ANSWER_MAX_BYTES);
    buf_add_text(&text, "{\"Error\":\"\"}");
    answer_text(exchange, &text);
}

static bool hung_up(void *context)
{
    const struct bind_call *call = context;
    return exchange_has_left(call->exchange);
}

static uint64_t version_of(struct inventory *inventory)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    return cluster_version(view.cluster);
}

static struct bind_call *call_new(struct extender *extender, const struct bind_args *args,
                                  struct exchange *exchange)
{
    struct arena *arena = exchange_arena(exchange);
    struct bind_call *call = ARENA_NEW(arena, struct bind_call);
    (void)in_force(extender, exchange); /* its texts may be in the answer */
    *call = (struct bind_call){
        .extender = extender,
        .exchange = exchange,
        .decision = {.verb = DECISION_BIND,
                     .namespace_ = arena_strdup(arena, args->namespace_),
                     .name = arena_strdup(arena, args->name),
                     .uid = arena_strdup(arena, args->uid),
                     .node = arena_strdup(arena, args->node_name),
                     .ledger_version = version_of(extender->inventory),
                     .n_asked = 1,
                     .is_observed = extender_observes(extender, exchange, args->namespace_)},
        .began_us = clock_us(),
        .failure = VERB_NONE,
    };
    return call;
}

/* The caller answers a failure. */
static int begin(struct bind_call *call, const struct bind_args *args, struct err *err)
{
    const struct extender *extender = call->extender;
    if (!extender->binds)
        return err_set(err, ENOTSUP,
                       "cannot bind: the inventory was read from a file, and there is no API "
                       "server to bind through");
    struct bind_args watched = *args;
    watched.hung_up = hung_up;
    if (call->decision.is_observed) {
        binds_post(extender->binds, &watched, clock_ms(), answer_bind, call);
        return 0;
    }
    if (!inventory_usable(extender->inventory, err)) {
        call->failure = VERB_UNUSABLE;
        return -EAGAIN;
    }
    binds_call(extender->binds, &watched, clock_ms(), answer_bind, call);
    return 0;
}

static void bind(struct extender *extender, const struct bind_args *args, struct exchange *exchange)
{
    struct err err;
    struct bind_call *call = call_new(extender, args, exchange);
    if (begin(call, args, &err) < 0) {
        err_prefix(&err, "gpu-extender: ");
        answer_bind(call, err.text);
    }
}

void extender_bind(void *context, struct exchange *exchange)
{
    struct err err;
    struct bind_args args = {0};
    size_t len = 0;
    json_t *root = NULL;
    const char *body = exchange_body(exchange, &len);
    int r = json_parse(body, len, 0, &JSON_ANSWER, &root, &err);
    if (r == 0)
        r = read_arguments(root, &args, &err);
    if (r < 0) {
        err_prefix(&err, "gpu-extender: request: ");
        answer_count(context, DECISION_BIND, VERB_MALFORMED);
        answer_scheduler_error(exchange, err.text);
    } else {
        bind(context, &args, exchange);
    }
    json_decref(root);
}
