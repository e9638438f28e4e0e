/* lease_rig: see lease_rig.h. */
#include "lease_rig.h"
#include "kube_answers.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

#define BEGIN_MS 1000000

static const struct lease_settings SETTINGS = {.namespace_ = "ns",
                                               .name = "gpu",
                                               .identity = "me",
                                               .duration_ms = 15000,
                                               .renew_deadline_ms = 10000,
                                               .retry_ms = 2000,
                                               .seed = 7};

void lease_rig_init(struct lease_rig *rig)
{
    *rig = (struct lease_rig){.lease = lease_new(&SETTINGS), .now_ms = BEGIN_MS, .version = 100};
}

void lease_rig_fini(struct lease_rig *rig)
{
    lease_free(rig->lease);
    json_decref(rig->sent);
}

static struct lease_action next(struct lease_rig *rig)
{
    return lease_next(rig->lease, rig->now_ms,
                      LEASE_RIG_WALL_MS + rig->wall_step_ms + rig->now_ms - BEGIN_MS);
}

void lease_rig_expect(struct lease_rig *rig, const char *method, const char *path)
{
    const struct lease_action action = next(rig);
    assert_true(action.sends);
    assert_string_equal(action.request.method, method);
    assert_string_equal(action.request.path, path);
    assert_int_equal(action.request.timeout_ms, 3333);
    json_decref(rig->sent);
    rig->sent = action.request.body
                    ? json_loadb(action.request.body, action.request.body_len, 0, NULL)
                    : NULL;
    assert_int_equal(rig->sent != NULL, strcmp(method, "GET") != 0);
}

void lease_rig_wait(struct lease_rig *rig, int64_t at_least_ms, int64_t at_most_ms)
{
    const struct lease_action action = next(rig);
    assert_false(action.sends);
    assert_in_range(action.until_ms, rig->now_ms + at_least_ms, rig->now_ms + at_most_ms);
    rig->now_ms = action.until_ms;
}

void lease_rig_expect_nothing(struct lease_rig *rig)
{
    const struct lease_action action = next(rig);
    assert_false(action.sends);
    assert_true(action.until_ms > rig->now_ms);
}

void lease_rig_answer(struct lease_rig *rig, unsigned status, const char *body)
{
    const struct kube_answer answer = kube_answered(rig->now_ms, status, body);
    lease_answered(rig->lease, &answer);
}

void lease_rig_lost(struct lease_rig *rig, enum kube_outcome outcome)
{
    const struct kube_answer answer = kube_unanswered(rig->now_ms, outcome, "no answer in 3333 ms");
    lease_answered(rig->lease, &answer);
}

void lease_rig_accept(struct lease_rig *rig)
{
    char version[32];
    json_t *object = json_deep_copy(rig->sent);
    (void)snprintf(version, sizeof version, "%lld", (long long)rig->version++);
    assert_int_equal(json_object_set_new(json_object_get(object, "metadata"), "resourceVersion",
                                         json_string(version)),
                     0);
    char *text = json_dumps(object, 0);
    lease_rig_answer(rig, 200, text);
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

void lease_rig_show(struct lease_rig *rig, const char *holder, const char *version,
                    const char *renew_time)
{
    char text[1000];
    write_lease(text, sizeof text, holder, version, renew_time);
    lease_rig_answer(rig, 200, text);
}

void lease_rig_see(struct lease_rig *rig, const char *holder, const char *version,
                   const char *renew_time)
{
    char text[1000];
    write_lease(text, sizeof text, holder, version, renew_time);
    json_t *object = json_loads(text, 0, NULL);
    lease_seen(rig->lease, rig->now_ms, object);
    json_decref(object);
}

const char *lease_rig_sent(const struct lease_rig *rig, const char *member)
{
    const char *text =
        json_string_value(json_object_get(json_object_get(rig->sent, "spec"), member));
    return text ? text : "";
}

int64_t lease_rig_sent_number(const struct lease_rig *rig, const char *member)
{
    return json_integer_value(json_object_get(json_object_get(rig->sent, "spec"), member));
}

bool lease_rig_leads(const struct lease_rig *rig)
{
    return lease_status(rig->lease).leads;
}

void lease_rig_find_none(struct lease_rig *rig)
{
    const int64_t until_ms = rig->now_ms + SETTINGS.duration_ms;
    lease_rig_expect(rig, "GET", LEASE_RIG_PATH);
    lease_rig_answer(rig, 404, "{}");
    while (rig->now_ms < until_ms) {
        assert_false(lease_rig_leads(rig));
        lease_rig_wait(rig, 1, 4400);
        lease_rig_expect(rig, "GET", LEASE_RIG_PATH);
        lease_rig_answer(rig, 404, "{}");
    }
    assert_int_equal(rig->now_ms, until_ms);
}

void lease_rig_lead(struct lease_rig *rig)
{
    rig->now_ms -= SETTINGS.duration_ms; /* it leads when the rig begins */
    lease_rig_find_none(rig);
    lease_rig_expect(rig, "POST", LEASE_RIG_ALL);
    lease_rig_accept(rig);
    assert_true(lease_rig_leads(rig));
}
