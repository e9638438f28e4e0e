/* leadership_stage: see leadership_stage.h. */
#include "leadership_stage.h"
#include "kube_answers.h"
#include "unit.h"

#include <errno.h>
#include <stdio.h>

static bool is_usable(void *context, struct err *ret_why)
{
    const struct stage *stage = context;
    if (stage->is_unusable)
        (void)err_set(ret_why, EAGAIN, "the pods are stale");
    return !stage->is_unusable;
}

static int64_t quiet_ms(void *context, int64_t now_ms)
{
    struct stage *stage = context;
    stage->decided |= leadership_may_decide(stage->leadership, now_ms);
    return stage->quiet_ms > now_ms ? stage->quiet_ms : now_ms;
}

static int64_t wall_ms(void *context)
{
    (void)context;
    return 0;
}

static void on_turn(void *context, bool may_decide)
{
    struct stage *stage = context;
    stage->n_turns++;
    stage->may_decide = may_decide;
}

static void on_released(void *context)
{
    struct stage *stage = context;
    stage->n_released++;
}

void begin(struct stage *stage, const char *service)
{
    *stage = (struct stage){.now_ms = 1000, .version = 1};
    fake_sender_init(&stage->sender);
    const struct leadership_settings settings = {
        .lease = {.namespace_ = "ns",
                  .name = "gpu",
                  .identity = "me",
                  .duration_ms = 15000,
                  .renew_deadline_ms = 10000,
                  .retry_ms = 2000},
        .slice = {.namespace_ = "ns", .service = service, .address = "10.0.0.1", .port_name = "v"},
        .pods = fake_catch_up_of(&stage->catch_up),
        .decide_ms = DECIDE_MS,
        .usable = is_usable,
        .quiet_ms = quiet_ms,
        .wall_ms = wall_ms,
        .turned = on_turn,
        .released = on_released,
        .context = stage,
    };
    stage->leadership = leadership_new(&settings, fake_sender_of(&stage->sender));
    leadership_serves(stage->leadership, 8443);
}

void tick(struct stage *stage)
{
    stage->next_ms = leadership_tick(stage->leadership, stage->now_ms);
}

void end(struct stage *stage)
{
    fake_sender_fini(&stage->sender);
    leadership_free(stage->leadership);
}

void reply(struct stage *stage, struct fake_request *request, unsigned status, const char *body)
{
    const struct kube_answer answer = kube_answered(stage->now_ms, status, body);
    fake_request_answer(request, &answer);
    tick(stage);
}

struct fake_request *asked(struct stage *stage, const char *method, const char *path)
{
    struct fake_request *request = fake_sender_take(&stage->sender);
    assert_non_null(request);
    assert_string_equal(request->method, method);
    assert_string_equal(request->path, path);
    return request;
}

void answered(struct stage *stage, const char *method, const char *path, unsigned status,
              const char *body)
{
    reply(stage, asked(stage, method, path), status, body);
}

void accept(struct stage *stage, struct fake_request *request)
{
    json_t *object = json_loads(request->body, 0, NULL);
    char version[32];
    (void)snprintf(version, sizeof version, "%d", (int)stage->version++);
    (void)json_object_set_new(json_object_get(object, "metadata"), "resourceVersion",
                              json_string(version));
    char *text = json_dumps(object, 0);
    reply(stage, request, 200, text);
    free(text);
    json_decref(object);
}

void accepted(struct stage *stage, const char *method, const char *path)
{
    accept(stage, asked(stage, method, path));
}

void asks_nothing(struct stage *stage)
{
    assert_null(fake_sender_take(&stage->sender));
}

bool may_decide(const struct stage *stage)
{
    return leadership_may_decide(stage->leadership, stage->now_ms);
}

void take_lease(struct stage *stage)
{
    tick(stage);
    answered(stage, "GET", LEASE, 200, HELD_BY("", "0"));
    accepted(stage, "PUT", LEASE);
}

void lead(struct stage *stage)
{
    begin(stage, NULL);
    take_lease(stage);
    answered(stage, "GET", "/version", 200, "{\"major\":\"1\",\"minor\":\"36\"}");
    answered(stage, "GET", PODS, 200, "{\"metadata\":{\"resourceVersion\":\"77\"}}");
    fake_catch_up_done(&stage->catch_up, stage->catch_up.last.number);
    tick(stage);
    assert_true(may_decide(stage));
}
