/* leadership_fixture: see leadership_fixture.h. */
#include "leadership_fixture.h"
#include "kube_answers.h"
#include "unit.h"

#include <errno.h>
#include <stdio.h>

static bool is_usable(void *context, struct err *ret_why)
{
    const struct fixture *fixture = context;
    if (fixture->is_unusable)
        (void)err_set(ret_why, EAGAIN, "the pods are stale");
    return !fixture->is_unusable;
}

static int64_t quiet_ms(void *context, int64_t now_ms)
{
    struct fixture *fixture = context;
    fixture->decided |= leadership_may_decide(fixture->leadership, now_ms);
    return fixture->quiet_ms > now_ms ? fixture->quiet_ms : now_ms;
}

static int64_t wall_ms(void *context)
{
    (void)context;
    return 0;
}

static void on_turn(void *context, bool may_decide)
{
    struct fixture *fixture = context;
    fixture->n_turns++;
    fixture->may_decide = may_decide;
}

static void on_released(void *context)
{
    struct fixture *fixture = context;
    fixture->n_released++;
}

void begin(struct fixture *fixture, const char *service)
{
    *fixture = (struct fixture){.now_ms = 1000, .version = 1};
    fake_sender_init(&fixture->sender);
    const struct leadership_settings settings = {
        .lease = {.namespace_ = "ns",
                  .name = "gpu",
                  .identity = "me",
                  .duration_ms = 15000,
                  .renew_deadline_ms = 10000,
                  .retry_ms = 2000},
        .slice = {.namespace_ = "ns", .service = service, .address = "10.0.0.1", .port_name = "v"},
        .pods = fake_catch_up_of(&fixture->catch_up),
        .decide_ms = DECIDE_MS,
        .usable = is_usable,
        .quiet_ms = quiet_ms,
        .wall_ms = wall_ms,
        .turned = on_turn,
        .released = on_released,
        .context = fixture,
    };
    fixture->leadership = leadership_new(&settings, fake_sender_of(&fixture->sender));
    leadership_serves(fixture->leadership, 8443, 0);
}

void tick(struct fixture *fixture)
{
    fixture->next_ms = leadership_tick(fixture->leadership, fixture->now_ms);
}

void end(struct fixture *fixture)
{
    fake_sender_fini(&fixture->sender);
    leadership_free(fixture->leadership);
}

int setup(void **state)
{
    static struct fixture fixture;
    begin(&fixture, NULL);
    *state = &fixture;
    return 0;
}

int teardown(void **state)
{
    end(*state);
    return 0;
}

void reply(struct fixture *fixture, struct fake_request *request, unsigned status, const char *body)
{
    const struct kube_answer answer = kube_answered(fixture->now_ms, status, body);
    fake_request_answer(request, &answer);
    tick(fixture);
}

struct fake_request *asked(struct fixture *fixture, const char *method, const char *path)
{
    struct fake_request *request = fake_sender_take(&fixture->sender);
    assert_non_null(request);
    assert_string_equal(request->method, method);
    assert_string_equal(request->path, path);
    return request;
}

void answered(struct fixture *fixture, const char *method, const char *path, unsigned status,
              const char *body)
{
    reply(fixture, asked(fixture, method, path), status, body);
}

void accept(struct fixture *fixture, struct fake_request *request)
{
    json_t *object = json_loads(request->body, 0, NULL);
    char version[32];
    (void)snprintf(version, sizeof version, "%d", (int)fixture->version++);
    (void)json_object_set_new(json_object_get(object, "metadata"), "resourceVersion",
                              json_string(version));
    char *text = json_dumps(object, 0);
    reply(fixture, request, 200, text);
    free(text);
    json_decref(object);
}

void accepted(struct fixture *fixture, const char *method, const char *path)
{
    accept(fixture, asked(fixture, method, path));
}

void asks_nothing(struct fixture *fixture)
{
    assert_null(fake_sender_take(&fixture->sender));
}

bool may_decide(const struct fixture *fixture)
{
    return leadership_may_decide(fixture->leadership, fixture->now_ms);
}

void take_lease(struct fixture *fixture)
{
    tick(fixture);
    answered(fixture, "GET", LEASE, 200, HELD_BY("", "0"));
    accepted(fixture, "PUT", LEASE);
}

void lead(struct fixture *fixture)
{
    take_lease(fixture);
    answered(fixture, "GET", "/version", 200, "{\"major\":\"1\",\"minor\":\"36\"}");
    answered(fixture, "GET", PODS, 200, "{\"metadata\":{\"resourceVersion\":\"77\"}}");
    fake_catch_up_done(&fixture->catch_up, fixture->catch_up.last.number);
    tick(fixture);
    assert_true(may_decide(fixture));
}
