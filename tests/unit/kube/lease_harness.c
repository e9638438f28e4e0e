/* lease_harness: see lease_harness.h. */
#include "lease_harness.h"
#include "kube_answers.h"
#include "scripts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEGIN_MS 1000000

static const struct lease_settings SETTINGS = {.namespace_ = "ns",
                                               .name = "gpu",
                                               .identity = "me",
                                               .duration_ms = 15000,
                                               .renew_deadline_ms = 10000,
                                               .retry_ms = 2000,
                                               .seed = 7};

void lease_harness_init(struct lease_harness *harness)
{
    *harness =
        (struct lease_harness){.lease = lease_new(&SETTINGS), .now_ms = BEGIN_MS, .version = 100};
}

void lease_harness_fini(struct lease_harness *harness)
{
    lease_free(harness->lease);
    json_decref(harness->sent);
}

int lease_harness_setup(void **state)
{
    static struct lease_harness harness;
    lease_harness_init(&harness);
    *state = &harness;
    return 0;
}

int lease_harness_teardown(void **state)
{
    lease_harness_fini(*state);
    return 0;
}

static struct lease_action next(struct lease_harness *harness)
{
    return lease_next(harness->lease, harness->now_ms,
                      LEASE_HARNESS_WALL_MS + harness->wall_step_ms + harness->now_ms - BEGIN_MS);
}

void lease_harness_expect(struct lease_harness *harness, const char *method, const char *path)
{
    const struct lease_action action = next(harness);
    assert_true(action.sends);
    assert_string_equal(action.request.method, method);
    assert_string_equal(action.request.path, path);
    assert_int_equal(action.request.timeout_ms, 3333);
    json_decref(harness->sent);
    harness->sent = action.request.body
                        ? json_loadb(action.request.body, action.request.body_len, 0, NULL)
                        : NULL;
    assert_int_equal(harness->sent != NULL, strcmp(method, "GET") != 0);
}

void lease_harness_wait(struct lease_harness *harness, int64_t at_least_ms, int64_t at_most_ms)
{
    const struct lease_action action = next(harness);
    assert_false(action.sends);
    assert_in_range(action.until_ms, harness->now_ms + at_least_ms, harness->now_ms + at_most_ms);
    harness->now_ms = action.until_ms;
}

void lease_harness_expect_nothing(struct lease_harness *harness)
{
    const struct lease_action action = next(harness);
    assert_false(action.sends);
    assert_true(action.until_ms > harness->now_ms);
}

void lease_harness_answer(struct lease_harness *harness, unsigned status, const char *body)
{
    const struct kube_answer answer = kube_answered(harness->now_ms, status, body);
    lease_answered(harness->lease, &answer);
}

void lease_harness_lost(struct lease_harness *harness, enum kube_outcome outcome)
{
    const struct kube_answer answer =
        kube_unanswered(harness->now_ms, outcome, "no answer in 3333 ms");
    lease_answered(harness->lease, &answer);
}

void lease_harness_accept(struct lease_harness *harness)
{
    char version[32];
    json_t *object = json_deep_copy(harness->sent);
    (void)snprintf(version, sizeof version, "%lld", (long long)harness->version++);
    assert_int_equal(json_object_set_new(json_object_get(object, "metadata"), "resourceVersion",
                                         json_string(version)),
                     0);
    char *text = json_dumps(object, 0);
    lease_harness_answer(harness, 200, text);
    free(text);
    json_decref(object);
}

static void write_lease(char *text, size_t size, const char *holder, const char *version,
                        const char *renew_time)
{
    (void)snprintf(text, size,
                   "{\"kind\":\"Lease\",\"apiVersion\":\"coordination.k8s.io/v1\",\"metadata\":{"
                   "\"name\":\"gpu\",\"namespace\":\"ns\",\"labels\":{\"theirs\":\"kept\"},"
                   "\"resourceVersion\":\"%s\"},\"spec\":{\"holderIdentity\":\"%s\","
                   "\"leaseDurationSeconds\":15,\"leaseTransitions\":3,\"acquireTime\":"
                   "\"2026-11-01T00:00:00.000000Z\",\"renewTime\":\"%s\","
                   "\"strategy\":\"OldestEmulationVersion\"}}",
                   version, holder, renew_time);
}

void lease_harness_show(struct lease_harness *harness, const char *holder, const char *version,
                        const char *renew_time)
{
    char text[1000];
    write_lease(text, sizeof text, holder, version, renew_time);
    lease_harness_answer(harness, 200, text);
}

void lease_harness_see(struct lease_harness *harness, const char *holder, const char *version,
                       const char *renew_time)
{
    char text[1000];
    write_lease(text, sizeof text, holder, version, renew_time);
    json_t *object = json_loads(text, 0, NULL);
    lease_seen(harness->lease, harness->now_ms, object);
    json_decref(object);
}

const char *lease_harness_sent(const struct lease_harness *harness, const char *member)
{
    const char *text =
        json_string_value(json_object_get(json_object_get(harness->sent, "spec"), member));
    return text ? text : "";
}

int64_t lease_harness_sent_number(const struct lease_harness *harness, const char *member)
{
    return json_integer_value(json_object_get(json_object_get(harness->sent, "spec"), member));
}

bool lease_harness_leads(const struct lease_harness *harness)
{
    return lease_status(harness->lease).leads;
}

void lease_harness_find_none(struct lease_harness *harness)
{
    const int64_t until_ms = harness->now_ms + SETTINGS.duration_ms;
    lease_harness_expect(harness, "GET", LEASE_HARNESS_PATH);
    lease_harness_answer(harness, 404, "{}");
    while (harness->now_ms < until_ms) {
        assert_false(lease_harness_leads(harness));
        lease_harness_wait(harness, 1, 4400);
        lease_harness_expect(harness, "GET", LEASE_HARNESS_PATH);
        lease_harness_answer(harness, 404, "{}");
    }
    assert_int_equal(harness->now_ms, until_ms);
}

void lease_harness_lead(struct lease_harness *harness)
{
    harness->now_ms -= SETTINGS.duration_ms; /* it leads when the harness begins */
    lease_harness_find_none(harness);
    lease_harness_expect(harness, "POST", LEASE_HARNESS_ALL);
    lease_harness_accept(harness);
    assert_true(lease_harness_leads(harness));
}

/* ---- scripts ---- */

void lease_step_expect(struct lease_harness *harness, const char *method)
{
    const bool creates = strcmp(method, "POST") == 0;
    lease_harness_expect(harness, method, creates ? LEASE_HARNESS_ALL : LEASE_HARNESS_PATH);
}

void lease_step_answer(struct lease_harness *harness, int64_t status)
{
    lease_harness_answer(harness, (unsigned)status, "{}");
}

static void give(struct lease_harness *harness, const char *holder,
                 void (*as)(struct lease_harness *, const char *, const char *, const char *))
{
    char name[16] = "", version[16] = "", later[2] = "";
    assert_true(sscanf(holder, "%15[^@]@%15[0-9]%1[+]", name, version, later) > 1 ||
                sscanf(holder, "@%15[0-9]", version) == 1);
    as(harness, name, version,
       *later ? "2026-11-21T10:00:02.000000Z" : "2026-11-21T10:00:00.000000Z");
}

void lease_step_show(struct lease_harness *harness, const char *holder)
{
    give(harness, holder, lease_harness_show);
}

void lease_step_see(struct lease_harness *harness, const char *holder)
{
    give(harness, holder, lease_harness_see);
}

void lease_step_see_deletion(struct lease_harness *harness)
{
    lease_seen(harness->lease, harness->now_ms, NULL);
}

void lease_step_lose(struct lease_harness *harness)
{
    lease_harness_lost(harness, KUBE_UNKNOWN);
}

void lease_step_sleep(struct lease_harness *harness, int64_t ms)
{
    harness->now_ms += ms;
}

void lease_step_retry(struct lease_harness *harness)
{
    lease_harness_wait(harness, 2000, 4400);
}

void lease_step_wait(struct lease_harness *harness, int64_t ms)
{
    lease_harness_wait(harness, ms, ms);
}

void lease_step_aim(struct lease_harness *harness, int64_t aim)
{
    lease_set_aim(harness->lease, harness->now_ms, (enum lease_aim)aim);
}

void lease_step_leads(struct lease_harness *harness, int64_t leads)
{
    assert_int_equal(lease_harness_leads(harness), leads);
}

void lease_step_has_left(struct lease_harness *harness, int64_t has_left)
{
    assert_int_equal(lease_has_left(harness->lease), has_left);
}

void lease_step_term(struct lease_harness *harness, int64_t term)
{
    assert_int_equal(lease_status(harness->lease).term, term);
}

void lease_step_losses(struct lease_harness *harness, int64_t losses)
{
    assert_int_equal(lease_status(harness->lease).losses, losses);
}

void lease_step_failures(struct lease_harness *harness, int64_t failures)
{
    assert_int_equal(lease_status(harness->lease).failures, failures);
}

void lease_step_holder(struct lease_harness *harness, const char *holder)
{
    assert_string_equal(lease_status(harness->lease).holder, holder);
}

void lease_step_why(struct lease_harness *harness, const char *why)
{
    assert_string_equal(lease_status(harness->lease).why, why);
}

void lease_step_sends_holder(struct lease_harness *harness, const char *holder)
{
    assert_string_equal(lease_harness_sent(harness, "holderIdentity"), holder);
}

void lease_step_sends_transitions(struct lease_harness *harness, int64_t transitions)
{
    assert_int_equal(lease_harness_sent_number(harness, "leaseTransitions"), transitions);
}

static void run_step(struct lease_harness *harness, const struct lease_step *step)
{
    if (step->plain)
        step->plain(harness);
    else if (step->textual)
        step->textual(harness, step->text);
    else
        step->numeric(harness, step->number);
}

static void run_script(void **state)
{
    const struct lease_script *script = *state;
    const struct lease_step *step = script->steps;
    struct lease_harness harness;
    lease_harness_init(&harness);
    for (; step->plain || step->textual || step->numeric; step++) {
        print_message("step %d\n", (int)(step - script->steps) + 1);
        run_step(&harness, step);
    }
    lease_harness_fini(&harness);
}

int lease_harness_run(const struct lease_script *scripts, size_t n)
{
    return scripts_run(run_script, scripts, n, sizeof *scripts);
}
