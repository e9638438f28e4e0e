/* The EndpointSlice with the leader's address. */
#include "kube/slice.h"
#include "kube_answers.h"
#include "unit.h"

#include <stdlib.h>

#define ALL "/apis/discovery.k8s.io/v1/namespaces/ns/endpointslices"
#define ONE ALL "/verbs"

#define SLICE_OF(type, address, version)                                                           \
    "{\"apiVersion\":\"discovery.k8s.io/v1\",\"kind\":\"EndpointSlice\",\"metadata\":{\"name\":"   \
    "\"verbs\",\"namespace\":\"ns\",\"resourceVersion\":\"" version "\",\"labels\":{\"theirs\":"   \
    "\"kept\",\"kubernetes.io/service-name\":\"verbs\","                                           \
    "\"endpointslice.kubernetes.io/managed-by\":\"gpu-extender\"}},\"addressType\":\"" type        \
    "\",\"endpoints\":[{\"addresses\":[\"" address "\"],\"conditions\":{\"ready\":true,"           \
    "\"serving\":true,\"terminating\":false}}],\"ports\":[{\"name\":\"verbs\",\"protocol\":"       \
    "\"TCP\",\"port\":8443}]}"
#define OURS SLICE_OF("IPv4", "10.0.0.7", "9")
#define OTHERS SLICE_OF("IPv4", "10.0.0.8", "8")

struct fixture {
    struct slice *slice;
    int64_t now_ms;
    json_t *sent;
};

static void begin(struct fixture *fixture, const char *address)
{
    const struct slice_settings settings = {.namespace_ = "ns",
                                            .service = "verbs",
                                            .address = address,
                                            .port_name = "verbs",
                                            .seed = 3};
    *fixture = (struct fixture){.slice = slice_new(&settings), .now_ms = 1000};
    slice_serve(fixture->slice, 8443);
}

static int setup(void **state)
{
    *state = calloc(1, sizeof(struct fixture));
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    json_decref(fixture->sent);
    slice_free(fixture->slice);
    free(fixture);
    return 0;
}

static void expect(struct fixture *fixture, const char *method, const char *path)
{
    const struct slice_action action = slice_next(fixture->slice, fixture->now_ms);
    assert_true(action.sends);
    assert_string_equal(action.request.method, method);
    assert_string_equal(action.request.path, path);
    json_decref(fixture->sent);
    fixture->sent = action.request.body
                        ? json_loadb(action.request.body, action.request.body_len, 0, NULL)
                        : NULL;
}

static void expect_wait(struct fixture *fixture, int64_t least_ms, int64_t most_ms)
{
    const struct slice_action action = slice_next(fixture->slice, fixture->now_ms);
    assert_false(action.sends);
    assert_in_range(action.until_ms, fixture->now_ms + least_ms, fixture->now_ms + most_ms);
    fixture->now_ms = action.until_ms;
}

static void expect_rest(struct fixture *fixture)
{
    const struct slice_action action = slice_next(fixture->slice, fixture->now_ms + 3600000);
    assert_false(action.sends);
}

static void answer(struct fixture *fixture, unsigned status, const char *body)
{
    const struct kube_answer whole = kube_answered(fixture->now_ms, status, body);
    slice_answered(fixture->slice, &whole);
}

static void accept_write(struct fixture *fixture)
{
    char *text = json_dumps(fixture->sent, 0);
    answer(fixture, 201, text);
    free(text);
}

static void see(struct fixture *fixture, const char *text)
{
    json_t *object = text ? json_loads(text, 0, NULL) : NULL;
    slice_seen(fixture->slice, fixture->now_ms, object);
    json_decref(object);
}

/* It leads, and reads the slice. */
static void lead(struct fixture *fixture, const char *address)
{
    begin(fixture, address);
    slice_lead(fixture->slice, fixture->now_ms, true);
    expect(fixture, "GET", ONE);
}

/* It leads, and the slice is already ours. */
static void settle(struct fixture *fixture)
{
    lead(fixture, "10.0.0.7");
    answer(fixture, 200, OURS);
    expect_rest(fixture);
}

static void a_follower_writes_nothing(void **state)
{
    struct fixture *fixture = *state;
    begin(fixture, "10.0.0.7");
    expect_rest(fixture);
    see(fixture, OTHERS);
    expect_rest(fixture);
}

static void an_absent_slice_is_created(void **state)
{
    struct fixture *fixture = *state;
    lead(fixture, "10.0.0.7");
    answer(fixture, 404, "{}");
    expect(fixture, "POST", ALL);
    json_t *right = json_loads(OURS, 0, NULL);
    json_t *metadata = json_object_get(right, "metadata");
    (void)json_object_del(metadata, "resourceVersion");
    (void)json_object_del(json_object_get(metadata, "labels"), "theirs");
    assert_true(json_equal(fixture->sent, right));
    json_decref(right);
    accept_write(fixture);
    expect_rest(fixture);
}

static void the_last_leaders_slice_is_replaced(void **state)
{
    struct fixture *fixture = *state;
    lead(fixture, "10.0.0.7");
    answer(fixture, 200, OTHERS);
    expect(fixture, "PUT", ONE);
    json_t *right = json_loads(SLICE_OF("IPv4", "10.0.0.7", "8"), 0, NULL);
    assert_true(json_equal(fixture->sent, right));
    json_decref(right);
    answer(fixture, 409, "{}");
    expect_wait(fixture, 200, 200);
    expect(fixture, "GET", ONE);
    answer(fixture, 200, OTHERS);
    expect(fixture, "PUT", ONE);
    accept_write(fixture);
    expect_rest(fixture);
    assert_string_equal(slice_why(fixture->slice), "");
}

static void another_address_type_recreates_the_slice(void **state)
{
    struct fixture *fixture = *state;
    lead(fixture, "fd00::7");
    answer(fixture, 200, OTHERS);
    expect(fixture, "DELETE", ONE);
    answer(fixture, 200, "{\"kind\":\"Status\"}");
    expect(fixture, "GET", ONE);
    answer(fixture, 404, "{}");
    expect(fixture, "POST", ALL);
    assert_string_equal(json_string_value(json_object_get(fixture->sent, "addressType")), "IPv6");
}

static void a_foreign_change_is_overwritten(void **state)
{
    struct fixture *fixture = *state;
    settle(fixture);
    see(fixture, OURS);
    expect_rest(fixture);
    see(fixture, OTHERS);
    expect_wait(fixture, 1000, 1000);
    expect(fixture, "GET", ONE);
    answer(fixture, 200, OTHERS);
    expect(fixture, "PUT", ONE);
    accept_write(fixture);
    expect_rest(fixture);
    fixture->now_ms += 5000;
    see(fixture, NULL);
    expect(fixture, "GET", ONE);
    answer(fixture, 404, "{}");
    expect(fixture, "POST", ALL);
}

static void an_event_during_a_request_is_followed_by_a_read(void **state)
{
    struct fixture *fixture = *state;
    lead(fixture, "10.0.0.7");
    see(fixture, OTHERS);
    answer(fixture, 200, OURS);
    expect_wait(fixture, 1000, 1000);
    expect(fixture, "GET", ONE);
    answer(fixture, 200, OURS);
    expect_rest(fixture);
}

static void defaults_set_by_the_server_are_accepted(void **state)
{
    struct fixture *fixture = *state;
    lead(fixture, "10.0.0.7");
    answer(fixture, 404, "{}");
    expect(fixture, "POST", ALL);
    json_t *stored = json_deep_copy(fixture->sent);
    json_t *port = json_array_get(json_object_get(stored, "ports"), 0);
    (void)json_object_set_new(port, "appProtocol", json_string("https"));
    char *text = json_dumps(stored, 0);
    answer(fixture, 201, text);
    slice_seen(fixture->slice, fixture->now_ms, stored);
    expect_rest(fixture);
    free(text);
    json_decref(stored);
}

static void failures_are_retried_and_logged(void **state)
{
    struct fixture *fixture = *state;
    lead(fixture, "10.0.0.7");
    answer(fixture, 403, "{\"message\":\"no right\"}");
    assert_string_equal(slice_why(fixture->slice), "GET " ONE ": 403: no right");
    expect_wait(fixture, 800, 1600);
    expect(fixture, "GET", ONE);
    answer(fixture, 200, "[]");
    expect_wait(fixture, 1600, 3200);
    slice_lead(fixture->slice, fixture->now_ms, false);
    expect_rest(fixture);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_follower_writes_nothing),
        TEST(an_absent_slice_is_created),
        TEST(the_last_leaders_slice_is_replaced),
        TEST(another_address_type_recreates_the_slice),
        TEST(a_foreign_change_is_overwritten),
        TEST(an_event_during_a_request_is_followed_by_a_read),
        TEST(defaults_set_by_the_server_are_accepted),
        TEST(failures_are_retried_and_logged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
