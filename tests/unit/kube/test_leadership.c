/* Whether this replica may decide: the Lease, the ledger that must be as of then, and the time. */
#include "base/clock.h"
#include "fake_sender.h"
#include "kube/leadership.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

#define LEASES "/apis/coordination.k8s.io/v1/namespaces/ns/leases"
#define LEASE LEASES "/gpu"
#define SLICES "/apis/discovery.k8s.io/v1/namespaces/ns/endpointslices"
#define PODS "/api/v1/pods?limit=1"
#define ACT_MS 9000

struct stage {
    struct fake_sender sender;
    struct leadership *leadership;
    int64_t now_ms;
    int64_t next_ms; /* what the last tick returned */
    int64_t version;
    uint64_t reach; /* the last that was wanted */
    char goal[64];  /* "" none: list anew */
    int n_turns, n_released;
    bool may_decide; /* as told */
};

static int64_t wall_ms(void *context)
{
    (void)context;
    return 0;
}

static void on_reach(void *context, uint64_t number, const char *version)
{
    struct stage *stage = context;
    stage->reach = number;
    (void)snprintf(stage->goal, sizeof stage->goal, "%s", version ? version : "");
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

static void begin(struct stage *stage, const char *service)
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
        .pods_path = "/api/v1/pods",
        .act_ms = ACT_MS,
        .wall_ms = wall_ms,
        .reach = on_reach,
        .turned = on_turn,
        .released = on_released,
        .context = stage,
    };
    stage->leadership = leadership_new(&settings, fake_sender_of(&stage->sender));
    leadership_serves(stage->leadership, 8443);
}

static void tick(struct stage *stage)
{
    stage->next_ms = leadership_tick(stage->leadership, stage->now_ms);
}

static void end(struct stage *stage)
{
    fake_sender_fini(&stage->sender);
    leadership_free(stage->leadership);
}

static void reply(struct stage *stage, struct fake_request *request, unsigned status,
                  const char *body)
{
    const struct kube_answer answer = {.outcome = KUBE_ANSWERED,
                                       .at_ms = stage->now_ms,
                                       .status = status,
                                       .retry_after_s = -1,
                                       .body = body,
                                       .body_len = strlen(body),
                                       .why = ""};
    fake_request_answer(request, &answer);
    tick(stage);
}

/* The next request is this. */
static struct fake_request *asked(struct stage *stage, const char *method, const char *path)
{
    struct fake_request *request = fake_sender_take(&stage->sender);
    assert_non_null(request);
    assert_string_equal(request->method, method);
    assert_string_equal(request->path, path);
    return request;
}

static void answered(struct stage *stage, const char *method, const char *path, unsigned status,
                     const char *body)
{
    reply(stage, asked(stage, method, path), status, body);
}

/* What was written comes back with the next resourceVersion. */
static void accepted(struct stage *stage, const char *method, const char *path)
{
    struct fake_request *request = asked(stage, method, path);
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

static void asks_nothing(struct stage *stage)
{
    assert_null(fake_sender_take(&stage->sender));
}

static bool may_decide(const struct stage *stage)
{
    return leadership_may_decide(stage->leadership, stage->now_ms);
}

/* It has made the Lease; what catches it up is asked for next. */
static void take_lease(struct stage *stage)
{
    tick(stage);
    answered(stage, "GET", LEASE, 404, "{}");
    accepted(stage, "POST", LEASES);
}

static void lead(struct stage *stage)
{
    begin(stage, NULL);
    take_lease(stage);
    answered(stage, "GET", "/version", 200, "{\"major\":\"1\",\"minor\":\"36\"}");
    answered(stage, "GET", PODS, 200, "{\"metadata\":{\"resourceVersion\":\"77\"}}");
    leadership_reached(stage->leadership, stage->reach);
    tick(stage);
    assert_true(may_decide(stage));
}

static void it_decides_when_its_ledger_is_as_of_then(void **state)
{
    struct stage stage;
    (void)state;
    begin(&stage, NULL);
    assert_false(may_decide(&stage));
    tick(&stage);
    assert_string_equal(leadership_role(stage.leadership, stage.now_ms), "follower");
    answered(&stage, "GET", LEASE, 404, "{}");
    accepted(&stage, "POST", LEASES);
    assert_string_equal(leadership_role(stage.leadership, stage.now_ms), "becoming the leader");
    answered(&stage, "GET", "/version", 200, "{\"major\":\"1\",\"minor\":\"35+\"}");
    assert_int_equal(stage.reach, 0);
    answered(&stage, "GET", PODS, 200, "{\"metadata\":{\"resourceVersion\":\"77\"}}");
    assert_int_equal(stage.reach, 1);
    assert_string_equal(stage.goal, "77");
    assert_false(may_decide(&stage));
    assert_int_equal(stage.n_turns, 0);
    leadership_reached(stage.leadership, 1);
    tick(&stage);
    assert_true(may_decide(&stage));
    assert_true(stage.may_decide);
    assert_string_equal(leadership_role(stage.leadership, stage.now_ms), "leader");
    asks_nothing(&stage);
    end(&stage);
}

static void where_versions_say_nothing_the_pods_are_listed_anew(void **state)
{
    static const struct {
        unsigned status;
        const char *body;
    } VERSIONS[] = {{200, "{\"major\":\"1\",\"minor\":\"34\"}"}, {403, "{}"}, {200, "?"}};
    (void)state;
    for (size_t i = 0; i < sizeof VERSIONS / sizeof *VERSIONS; i++) {
        struct stage stage;
        begin(&stage, NULL);
        take_lease(&stage);
        answered(&stage, "GET", "/version", VERSIONS[i].status, VERSIONS[i].body);
        assert_int_equal(stage.reach, 1);
        assert_string_equal(stage.goal, "");
        end(&stage);
    }
}

static void where_the_pods_cannot_be_asked_they_are_listed_anew(void **state)
{
    struct stage stage;
    (void)state;
    begin(&stage, NULL);
    take_lease(&stage);
    answered(&stage, "GET", "/version", 200, "{\"major\":\"2\",\"minor\":\"0\"}");
    answered(&stage, "GET", PODS, 500, "{}");
    assert_int_equal(stage.reach, 1);
    assert_string_equal(stage.goal, "");
    end(&stage);
}

static void it_may_decide_until_what_it_begins_would_last_too_long(void **state)
{
    struct stage stage;
    (void)state;
    lead(&stage);
    const int64_t renewed_ms = stage.now_ms;
    stage.now_ms = renewed_ms + 2000;
    tick(&stage);
    struct fake_request *renewal = asked(&stage, "PUT", LEASE);
    stage.now_ms = renewed_ms + 15000 - ACT_MS - 1;
    assert_true(may_decide(&stage));
    tick(&stage);
    assert_int_equal(stage.next_ms, renewed_ms + 15000 - ACT_MS);
    stage.now_ms++;
    assert_false(may_decide(&stage)); /* without anybody's doing */
    assert_true(stage.may_decide);
    tick(&stage);
    assert_false(stage.may_decide);
    reply(&stage, renewal, 500, "{}");
    answered(&stage, "GET", LEASE, 500, "{}");
    stage.now_ms += 2000;
    tick(&stage);
    answered(&stage, "GET", LEASE, 200,
             "{\"kind\":\"Lease\",\"metadata\":{\"resourceVersion\":\"1\"},\"spec\":{"
             "\"holderIdentity\":\"me\",\"leaseDurationSeconds\":15}}");
    accepted(&stage, "PUT", LEASE);
    assert_true(may_decide(&stage)); /* it was ours all the time: nothing is to be caught up */
    assert_true(stage.may_decide);
    end(&stage);
}

static void who_takes_it_again_catches_up_again(void **state)
{
    struct stage stage;
    (void)state;
    lead(&stage);
    stage.now_ms += 60000;
    tick(&stage);
    assert_false(may_decide(&stage));
    answered(&stage, "GET", LEASE, 404, "{}");
    accepted(&stage, "POST", LEASES);
    assert_false(may_decide(&stage));
    answered(&stage, "GET", "/version", 200, "{}");
    assert_int_equal(stage.reach, 2);
    leadership_reached(stage.leadership, 1); /* a late word of the first time */
    tick(&stage);
    assert_false(may_decide(&stage));
    leadership_reached(stage.leadership, 2);
    tick(&stage);
    assert_true(may_decide(&stage));
    end(&stage);
}

static void a_question_of_the_last_time_is_asked_again(void **state)
{
    struct stage stage;
    (void)state;
    begin(&stage, NULL);
    take_lease(&stage);
    struct fake_request *version = asked(&stage, "GET", "/version");
    stage.now_ms += 60000;
    tick(&stage);
    answered(&stage, "GET", LEASE, 404, "{}");
    accepted(&stage, "POST", LEASES);
    asks_nothing(&stage);
    reply(&stage, version, 200, "{\"major\":\"1\",\"minor\":\"36\"}");
    answered(&stage, "GET", "/version", 200, "{\"major\":\"1\",\"minor\":\"36\"}");
    end(&stage);
}

static void the_slice_is_written_as_soon_as_the_lease_is_held(void **state)
{
    struct stage stage;
    (void)state;
    begin(&stage, "verbs");
    tick(&stage);
    answered(&stage, "GET", LEASE, 404, "{}");
    accepted(&stage, "POST", LEASES);
    struct fake_request *slice = asked(&stage, "GET", SLICES "/verbs");
    struct fake_request *version = asked(&stage, "GET", "/version");
    reply(&stage, slice, 404, "{}");
    slice = asked(&stage, "POST", SLICES);
    assert_non_null(strstr(slice->body, "\"port\":8443"));
    reply(&stage, slice, 500, "{}");
    reply(&stage, version, 500, "{}");
    end(&stage);
}

static void what_a_watch_shows_is_passed_on(void **state)
{
    struct stage stage;
    (void)state;
    begin(&stage, NULL);
    const struct reflector_store store = leadership_lease_store(stage.leadership);
    tick(&stage);
    answered(&stage, "GET", LEASE, 200,
             "{\"kind\":\"Lease\",\"metadata\":{\"resourceVersion\":\"5\"},\"spec\":{"
             "\"holderIdentity\":\"other\",\"leaseDurationSeconds\":15}}");
    asks_nothing(&stage);
    json_t *free_one = json_loads(
        "{\"kind\":\"Lease\",\"metadata\":{\"resourceVersion\":\"6\"},\"spec\":{}}", 0, NULL);
    store.upsert(store.context, free_one);
    json_decref(free_one);
    tick(&stage);
    struct fake_request *request = asked(&stage, "GET", LEASE);
    reply(&stage, request, 500, "{}");
    store.list_begin(store.context);
    store.list_end(store.context); /* none is there */
    tick(&stage);
    answered(&stage, "GET", LEASE, 404, "{}");
    answered(&stage, "POST", LEASES, 409, "{}");
    end(&stage);
}

static void it_is_given_up_once_and_that_is_told_once(void **state)
{
    struct stage stage;
    (void)state;
    lead(&stage);
    leadership_release(stage.leadership);
    tick(&stage);
    assert_false(may_decide(&stage));
    assert_false(stage.may_decide);
    answered(&stage, "GET", LEASE, 200,
             "{\"kind\":\"Lease\",\"metadata\":{\"resourceVersion\":\"1\"},\"spec\":{"
             "\"holderIdentity\":\"me\",\"leaseDurationSeconds\":15}}");
    assert_int_equal(stage.n_released, 0);
    accepted(&stage, "PUT", LEASE);
    tick(&stage);
    assert_int_equal(stage.n_released, 1);
    asks_nothing(&stage);
    end(&stage);
}

static void metrics_say_who_leads(void **state)
{
    struct stage stage;
    struct buf text;
    (void)state;
    buf_init(&text, 10000);
    lead(&stage);
    leadership_metrics(stage.leadership, stage.now_ms, &text);
    assert_non_null(strstr(buf_text(&text), "\ngpu_extender_leader 1\n"));
    assert_non_null(strstr(buf_text(&text), "\ngpu_extender_lease_acquisitions_total 1\n"));
    buf_clear(&text);
    stage.now_ms += 60000;
    tick(&stage);
    answered(&stage, "GET", LEASE, 500, "{}");
    leadership_metrics(stage.leadership, stage.now_ms, &text);
    assert_non_null(strstr(buf_text(&text), "\ngpu_extender_leader 0\n"));
    assert_non_null(strstr(buf_text(&text), "\ngpu_extender_lease_losses_total 1\n"));
    assert_non_null(strstr(buf_text(&text), "\ngpu_extender_lease_failures_total 1\n"));
    buf_fini(&text);
    end(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_decides_when_its_ledger_is_as_of_then),
        cmocka_unit_test(where_versions_say_nothing_the_pods_are_listed_anew),
        cmocka_unit_test(where_the_pods_cannot_be_asked_they_are_listed_anew),
        cmocka_unit_test(it_may_decide_until_what_it_begins_would_last_too_long),
        cmocka_unit_test(who_takes_it_again_catches_up_again),
        cmocka_unit_test(a_question_of_the_last_time_is_asked_again),
        cmocka_unit_test(the_slice_is_written_as_soon_as_the_lease_is_held),
        cmocka_unit_test(what_a_watch_shows_is_passed_on),
        cmocka_unit_test(it_is_given_up_once_and_that_is_told_once),
        cmocka_unit_test(metrics_say_who_leads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
