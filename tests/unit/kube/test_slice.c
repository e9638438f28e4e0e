/* The EndpointSlice with the leader's address. */
#include "kube/slice.h"
#include "kube_answers.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#define ALL "/apis/discovery.k8s.io/v1/namespaces/ns/endpointslices"
#define ONE ALL "/verbs"

#define SLICE(metadata, labels, type, address)                                                     \
    "{\"apiVersion\":\"discovery.k8s.io/v1\",\"kind\":\"EndpointSlice\",\"metadata\":{\"name\":"   \
    "\"verbs\",\"namespace\":\"ns\"," metadata "\"labels\":{" labels                               \
    "\"kubernetes.io/service-name\":\"verbs\","                                                    \
    "\"endpointslice.kubernetes.io/managed-by\":\"gpu-extender\"}},\"addressType\":\"" type        \
    "\",\"endpoints\":[{\"addresses\":[\"" address "\"],\"conditions\":{\"ready\":true,"           \
    "\"serving\":true,\"terminating\":false}}],\"ports\":[{\"name\":\"verbs\",\"protocol\":"       \
    "\"TCP\",\"port\":8443}]}"
#define STORED(address, version)                                                                   \
    SLICE("\"resourceVersion\":\"" version "\",", "\"theirs\":\"kept\",", "IPv4", address)
#define CREATED(type, address) SLICE("", "", type, address)
#define OURS STORED("10.0.0.7", "9")
#define OTHERS STORED("10.0.0.8", "8")

struct fixture {
    struct slice *slice;
    int64_t now_ms;
    json_t *sent;
};

/* ---- steps ---- */

struct step {
    void (*run)(struct fixture *fixture, const struct step *step);
    const char *text;
    int64_t number, most;
};

static void expect(struct fixture *fixture, const struct step *step)
{
    const struct slice_action action = slice_next(fixture->slice, fixture->now_ms);
    assert_true(action.sends);
    assert_string_equal(action.request.method, step->text);
    assert_string_equal(action.request.path, strcmp(step->text, "POST") == 0 ? ALL : ONE);
    json_decref(fixture->sent);
    fixture->sent = action.request.body
                        ? json_loadb(action.request.body, action.request.body_len, 0, NULL)
                        : NULL;
}

static void expect_sent(struct fixture *fixture, const struct step *step)
{
    json_t *right = json_loads(step->text, 0, NULL);
    assert_true(json_equal(fixture->sent, right));
    json_decref(right);
}

static void expect_wait(struct fixture *fixture, const struct step *step)
{
    const struct slice_action action = slice_next(fixture->slice, fixture->now_ms);
    assert_false(action.sends);
    assert_in_range(action.until_ms, fixture->now_ms + step->number, fixture->now_ms + step->most);
    fixture->now_ms = action.until_ms;
}

static void expect_rest(struct fixture *fixture, const struct step *step)
{
    assert_false(slice_next(fixture->slice, fixture->now_ms + step->number).sends);
}

static void expect_why(struct fixture *fixture, const struct step *step)
{
    assert_string_equal(slice_why(fixture->slice), step->text);
}

static void answer(struct fixture *fixture, const struct step *step)
{
    const struct kube_answer whole =
        kube_answered(fixture->now_ms, (unsigned)step->number, step->text);
    slice_answered(fixture->slice, &whole);
}

/* As the API server, which may add this member to the port. */
static void accept_write(struct fixture *fixture, const struct step *step)
{
    if (step->text) {
        json_t *port = json_array_get(json_object_get(fixture->sent, "ports"), 0);
        (void)json_object_set_new(port, step->text, json_string("https"));
    }
    char *stored = json_dumps(fixture->sent, 0);
    answer(fixture, &(struct step){.text = stored, .number = 201});
    free(stored);
    if (step->text)
        slice_seen(fixture->slice, fixture->now_ms, fixture->sent);
}

static void see(struct fixture *fixture, const struct step *step)
{
    json_t *object = step->text ? json_loads(step->text, 0, NULL) : NULL;
    slice_seen(fixture->slice, fixture->now_ms, object);
    json_decref(object);
}

static void lead(struct fixture *fixture, const struct step *step)
{
    slice_lead(fixture->slice, fixture->now_ms, step->number);
}

static void sleep_for(struct fixture *fixture, const struct step *step)
{
    fixture->now_ms += step->number;
}

/* clang-format off */
#define GET {expect, "GET", 0, 0}
#define PUT {expect, "PUT", 0, 0}
#define POST {expect, "POST", 0, 0}
#define DELETE {expect, "DELETE", 0, 0}
#define SENDS(object) {expect_sent, object, 0, 0}
#define WAIT(ms) {expect_wait, NULL, ms, ms}
#define RETRY(least_ms) {expect_wait, NULL, least_ms, INT64_C(2) * (least_ms)} /* or up to twice as long */
#define REST {expect_rest, NULL, 3600000, 0} /* for an hour */
#define WHY(why) {expect_why, why, 0, 0}
#define ANSWER(status, body) {answer, body, status, 0}
#define ACCEPT {accept_write, NULL, 0, 0}
#define ACCEPT_WITH_DEFAULTS {accept_write, "appProtocol", 0, 0}
#define SEE(object) {see, object, 0, 0}
#define LEAD {lead, NULL, true, 0}
#define FOLLOW {lead, NULL, false, 0}
#define SLEEP(ms) {sleep_for, NULL, ms, 0}
/* clang-format on */

/* It leads, and the slice is already ours. */
#define SETTLE LEAD, GET, ANSWER(200, OURS), REST

static const struct script {
    const char *name;
    const char *address;
    struct step steps[24];
} SCRIPTS[] = {
    {"a follower writes nothing", "10.0.0.7", {REST, SEE(OTHERS), REST}},
    {"an absent slice is created",
     "10.0.0.7",
     {LEAD, GET, ANSWER(404, "{}"), POST, SENDS(CREATED("IPv4", "10.0.0.7")), ACCEPT, REST}},
    {"the last leader's slice is replaced",
     "10.0.0.7",
     {LEAD, GET, ANSWER(200, OTHERS), PUT, SENDS(STORED("10.0.0.7", "8")), ANSWER(409, "{}"),
      WAIT(200), GET, ANSWER(200, OTHERS), PUT, ACCEPT, REST, WHY("")}},
    {"another address type recreates the slice",
     "fd00::7",
     {LEAD, GET, ANSWER(200, OTHERS), DELETE, ANSWER(200, "{\"kind\":\"Status\"}"), GET,
      ANSWER(404, "{}"), POST, SENDS(CREATED("IPv6", "fd00::7"))}},
    {"a foreign change is overwritten",
     "10.0.0.7",
     {SETTLE, SEE(OURS), REST, SEE(OTHERS), WAIT(1000), GET, ANSWER(200, OTHERS), PUT, ACCEPT, REST,
      SLEEP(5000), SEE(NULL), GET, ANSWER(404, "{}"), POST}},
    {"an event during a request is followed by a read",
     "10.0.0.7",
     {LEAD, GET, SEE(OTHERS), ANSWER(200, OURS), WAIT(1000), GET, ANSWER(200, OURS), REST}},
    {"defaults set by the server are accepted",
     "10.0.0.7",
     {LEAD, GET, ANSWER(404, "{}"), POST, ACCEPT_WITH_DEFAULTS, REST}},
    {"failures are retried and logged",
     "10.0.0.7",
     {LEAD, GET, ANSWER(403, "{\"message\":\"no right\"}"), WHY("GET " ONE ": 403: no right"),
      RETRY(800), GET, ANSWER(200, "[]"), RETRY(1600), FOLLOW, REST}},
};

static void run(void **state)
{
    const struct script *script = *state;
    const struct slice_settings settings = {.namespace_ = "ns",
                                            .service = "verbs",
                                            .address = script->address,
                                            .port_name = "verbs",
                                            .seed = 3};
    struct fixture fixture = {.slice = slice_new(&settings), .now_ms = 1000};
    slice_serve(fixture.slice, 8443, 0);
    for (const struct step *step = script->steps; step->run; step++) {
        print_message("step %d\n", (int)(step - script->steps) + 1);
        step->run(&fixture, step);
    }
    json_decref(fixture.sent);
    slice_free(fixture.slice);
}

static void test_the_users_port_has_its_own_name(void **state)
{
    static const struct slice_settings SETTINGS = {.namespace_ = "ns",
                                                   .service = "verbs",
                                                   .address = "10.0.0.7",
                                                   .port_name = "verbs",
                                                   .users_port_name = "leader",
                                                   .seed = 3};
    static const struct kube_answer MISSING = {
        .outcome = KUBE_ANSWERED, .status = 404, .body = "{}", .body_len = 2, .why = ""};
    struct slice *slice = slice_new(&SETTINGS);
    (void)state;
    slice_serve(slice, 8443, 8444);
    slice_lead(slice, 1000, true);
    assert_true(slice_next(slice, 1000).sends);
    slice_answered(slice, &MISSING);
    const struct slice_action action = slice_next(slice, 1000);
    assert_true(action.sends);
    json_t *sent = json_loads(action.request.body, 0, NULL);
    json_t *ports = json_loads("[{\"name\":\"verbs\",\"protocol\":\"TCP\",\"port\":8443},"
                               "{\"name\":\"leader\",\"protocol\":\"TCP\",\"port\":8444}]",
                               0, NULL);
    assert_true(json_equal(json_object_get(sent, "ports"), ports));
    json_decref(ports);
    json_decref(sent);
    slice_free(slice);
}

int main(void)
{
    struct CMUnitTest tests[sizeof SCRIPTS / sizeof *SCRIPTS + 1];
    for (size_t i = 0; i < sizeof SCRIPTS / sizeof *SCRIPTS; i++)
        tests[i] =
            (struct CMUnitTest){SCRIPTS[i].name, run, NULL, NULL, (void *)(uintptr_t)&SCRIPTS[i]};
    tests[sizeof SCRIPTS / sizeof *SCRIPTS] =
        (struct CMUnitTest)cmocka_unit_test(test_the_users_port_has_its_own_name);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
