/* lease: see include/kube/lease.h. */
#include "kube/lease.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "formats/json_values.h"
#include "kube/watch/pace.h"
#include "kube/watch/resource_version.h"
#include "request_text.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- the Lease as JSON ---- */

/* The fields that decide who leads. Strings are borrowed from the object. */
struct lease_record {
    const char *holder; /* "": nobody */
    int64_t duration_ms;
    const char *version; /* metadata.resourceVersion */
};

/* The fields to write. */
struct lease_write {
    const char *namespace_;
    const char *name;
    const char *holder;
    int64_t duration_s;
    bool is_new_holder; /* sets acquireTime; counts a transition if the Lease existed */
    bool is_release;    /* sets acquireTime, but counts no transition */
    int64_t wall_ms;    /* the time to write, since 1970 */
};

#define MICRO_TIME_SIZE 64

/* MicroTime: the API server accepts exactly six digits after the point (PROTOCOL 9.1). */
static const char *micro_time(int64_t wall_ms, char text[MICRO_TIME_SIZE])
{
    const time_t seconds = (time_t)(wall_ms / 1000);
    struct tm parts = {0};
    char day[32] = "";
    (void)gmtime_r(&seconds, &parts);
    (void)strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &parts);
    (void)snprintf(text, MICRO_TIME_SIZE, "%s.%03d000Z", day, (int)(wall_ms % 1000));
    return text;
}

static json_t *spec_of(const json_t *object)
{
    return json_member(object, "spec");
}

/* Returns 0, or -EINVAL: the object is no Lease, has no resourceVersion, or a member has the wrong
 * type. */
static int lease_object_read(const json_t *object, struct lease_record *ret_record, struct err *err)
{
    struct lease_record record = {.holder = "", .version = ""};
    const char *kind = "";
    int64_t seconds = 0;
    const json_t *spec = spec_of(object);
    int r = json_get_string(object, "kind", &kind, err);
    if (r == 0)
        r = json_get_string(json_member(object, "metadata"), "resourceVersion", &record.version,
                            err);
    if (r == 0)
        r = json_get_string(spec, "holderIdentity", &record.holder, err);
    if (r == 0)
        r = json_get_integer(spec, "leaseDurationSeconds", &seconds, err);
    if (r < 0)
        return r;
    if (strcmp(kind, "Lease") != 0 || !record.version[0])
        return err_set(err, EINVAL, "is not a Lease with a resourceVersion");
    /* The API server stores 32 bits and rejects less than 1; any other value counts as expired. */
    record.duration_ms = seconds < 0 || seconds > INT32_MAX ? 0 : seconds * 1000;
    *ret_record = record;
    return 0;
}

/* Whether the specs are equal: holder, duration, times and transitions. */
static bool lease_object_same(const json_t *a, const json_t *b)
{
    const json_t *spec_a = spec_of(a);
    const json_t *spec_b = spec_of(b);
    return spec_a == spec_b || (spec_a && spec_b && json_equal(spec_a, spec_b));
}

static json_t *new_object(const struct lease_write *write)
{
    return json_pack("{s:s, s:s, s:{s:s, s:s}}", "apiVersion", "coordination.k8s.io/v1", "kind",
                     "Lease", "metadata", "name", write->name, "namespace", write->namespace_);
}

static json_t *spec_to_write(json_t *object)
{
    json_t *spec = json_object_get(object, "spec");
    if (json_is_object(spec))
        return spec;
    (void)json_object_set_new(object, "spec", json_object());
    return json_object_get(object, "spec");
}

static int64_t transitions_of(const json_t *spec)
{
    int64_t n = 0;
    (void)json_get_integer(spec, "leaseTransitions", &n, NULL);
    return n < 0 || n >= INT32_MAX ? 0 : n;
}

/* Returns a copy of the object with these fields written; its other fields stay. object NULL: a new
 * Lease. The caller owns the result. */
static json_t *lease_object_write(const json_t *object, const struct lease_write *write)
{
    char now[MICRO_TIME_SIZE];
    json_t *copy = object ? json_deep_copy(object) : new_object(write);
    json_t *spec = spec_to_write(copy);
    const bool counts = object && write->is_new_holder;
    (void)micro_time(write->wall_ms, now);
    (void)json_object_set_new(spec, "holderIdentity", json_string(write->holder));
    (void)json_object_set_new(spec, "leaseDurationSeconds", json_integer(write->duration_s));
    (void)json_object_set_new(spec, "renewTime", json_string(now));
    if (write->is_new_holder || write->is_release)
        (void)json_object_set_new(spec, "acquireTime", json_string(now));
    (void)json_object_set_new(spec, "leaseTransitions",
                              json_integer(transitions_of(spec) + (counts ? 1 : 0)));
    return copy;
}

/* ---- lease ---- */

/* Follower jitter, in percent of retry_ms. */
#define JITTER_PERCENT 120
/* A request may take 1/TRIES of the renewal deadline, so a lost one leaves time for others. */
#define TRIES 3
/* Interval of tries to give the Lease up while other replicas wait for it. */
#define LEAVE_RETRY_MS 200
#define RETRY_AFTER_MAX_S 300
#define WHY_MAX_BYTES ((size_t)400)

enum lease_request {
    NO_REQUEST,
    READ,    /* GET: its answer decides what follows */
    RENEW,   /* PUT on our own last write */
    TAKE,    /* PUT on the version just read, to take or keep it */
    MAKE,    /* POST */
    GIVE_UP, /* PUT without a holder, on the version just read */
};

struct lease {
    struct lease_settings settings;
    struct buf collection; /* its path */
    struct buf path;
    char *body;
    uint64_t random;

    enum lease_request next; /* the request to send at due_ms */
    int64_t due_ms;
    enum lease_request asked; /* in flight */
    int64_t asked_ms;

    json_t *object;     /* as last seen; NULL: never */
    int64_t seen_ms;    /* unchanged since then, by our clock */
    bool is_gone;       /* the last reading found none */
    int64_t gone_ms;    /* if is_gone: since when every reading found none */
    int64_t written_ms; /* when a PUT or POST that makes it ours was last sent */
    bool may_be_ours;   /* no answer since then contradicts that write */
    bool is_hinted;     /* since the request was sent there is a reason to read again */
    bool has_ended;     /* since the request was sent a watch showed the deletion */
    enum lease_aim aim;
    struct lease_status status;
    char *holder;
    struct buf why;
};

struct lease *lease_new(const struct lease_settings *settings)
{
    struct lease *lease = MEM_NEW(struct lease);
    lease->settings = *settings;
    lease->random = settings->seed;
    lease->next = READ;
    lease->holder = mem_strdup("");
    buf_init(&lease->collection, BUF_UNBOUNDED);
    buf_init(&lease->path, BUF_UNBOUNDED);
    buf_init(&lease->why, WHY_MAX_BYTES);
    buf_printf(&lease->collection, "/apis/coordination.k8s.io/v1/namespaces/%s/leases",
               settings->namespace_);
    buf_printf(&lease->path, "%s/%s", buf_text(&lease->collection), settings->name);
    return lease;
}

void lease_free(struct lease *lease)
{
    if (!lease)
        return;
    json_decref(lease->object);
    free(lease->holder);
    free(lease->body);
    buf_fini(&lease->collection);
    buf_fini(&lease->path);
    buf_fini(&lease->why);
    free(lease);
}

/* ---- the known state ---- */

static struct lease_record record_of(const struct lease *lease)
{
    struct lease_record record = {.holder = "", .version = ""};
    (void)lease_object_read(lease->object, &record, NULL);
    return record;
}

static bool is_ours(const struct lease *lease, const struct lease_record *record)
{
    return strcmp(record->holder, lease->settings.identity) == 0;
}

static int64_t expiry_ms(const struct lease *lease, const struct lease_record *record)
{
    return lease->seen_ms + record->duration_ms;
}

static bool is_held_by_another(const struct lease *lease, int64_t now_ms)
{
    const struct lease_record record = record_of(lease);
    return record.holder[0] && !is_ours(lease, &record) && now_ms < expiry_ms(lease, &record);
}

/* Takes ownership of object. */
static void see(struct lease *lease, int64_t now_ms, json_t *object)
{
    if (!lease->object || !lease_object_same(lease->object, object))
        lease->seen_ms = now_ms;
    json_decref(lease->object);
    lease->object = object;
    lease->is_gone = false;
    free(lease->holder);
    lease->holder = mem_strdup(record_of(lease).holder);
}

/* ---- rounds ---- */

static void ask_next(struct lease *lease, enum lease_request request, int64_t due_ms)
{
    lease->next = request;
    lease->due_ms = due_ms;
}

static void lose(struct lease *lease)
{
    lease->status.leads = false;
    lease->status.losses++;
    lease->next = READ;
}

/* Other replicas may create the Lease again and lead. */
static void lose_deleted(struct lease *lease)
{
    if (!lease->status.leads)
        return;
    buf_clear(&lease->why);
    buf_printf(&lease->why, "the Lease was deleted");
    lose(lease);
}

static void hold(struct lease *lease, int64_t now_ms)
{
    const int64_t again_ms = lease->asked_ms + lease->settings.retry_ms;
    if (lease->aim == LEASE_LEAVE)
        return; /* the next reading gives it up */
    if (lease->asked_ms + lease->settings.renew_deadline_ms <= now_ms) {
        ask_next(lease, READ, now_ms); /* the answer is too late to rely on */
        return;
    }
    buf_clear(&lease->why);
    lease->status.renewed_ms = lease->asked_ms;
    if (!lease->status.leads)
        lease->status.term++;
    lease->status.leads = true;
    ask_next(lease, RENEW, again_ms > now_ms ? again_ms : now_ms);
}

static bool keeps_others_waiting(const struct lease *lease, int64_t now_ms)
{
    return lease->aim == LEASE_LEAVE && lease->may_be_ours &&
           now_ms < lease->written_ms + lease->settings.duration_ms;
}

/* This round failed, or found another holder. */
static void end_round(struct lease *lease, int64_t now_ms, int64_t retry_after_s)
{
    const int64_t retry_ms = lease->settings.retry_ms;
    int64_t delay_ms = retry_ms;
    if (keeps_others_waiting(lease, now_ms))
        delay_ms = LEAVE_RETRY_MS;
    else if (!lease->status.leads)
        delay_ms += random_below(&lease->random, retry_ms * JITTER_PERCENT / 100 + 1);
    if (retry_after_s > 0 && retry_after_s <= RETRY_AFTER_MAX_S && retry_after_s * 1000 > delay_ms)
        delay_ms = retry_after_s * 1000;
    ask_next(lease, READ, now_ms + delay_ms);
}

/* Tries again as soon as until_ms has passed. */
static void follow(struct lease *lease, int64_t now_ms, int64_t until_ms)
{
    end_round(lease, now_ms, -1);
    if (until_ms < lease->due_ms)
        lease->due_ms = until_ms;
}

static void follow_holder(struct lease *lease, int64_t now_ms)
{
    const struct lease_record record = record_of(lease);
    follow(lease, now_ms, expiry_ms(lease, &record));
}

/* ---- requests ---- */

static const char *method_of(enum lease_request request)
{
    switch (request) {
    case RENEW:
    case TAKE:
    case GIVE_UP:
        return "PUT";
    case MAKE:
        return "POST";
    case NO_REQUEST:
    case READ:
        break;
    }
    return "GET";
}

static size_t write_body(struct lease *lease, enum lease_request request, int64_t wall_ms)
{
    const struct lease_record record = record_of(lease);
    const bool gives_up = request == GIVE_UP;
    const struct lease_write write = {
        .namespace_ = lease->settings.namespace_,
        .name = lease->settings.name,
        .holder = gives_up ? "" : lease->settings.identity,
        .duration_s = gives_up ? 1 : lease->settings.duration_ms / 1000,
        .is_new_holder = !gives_up && (request == MAKE || !is_ours(lease, &record)),
        .is_release = gives_up,
        .wall_ms = wall_ms,
    };
    size_t len = 0;
    free(lease->body);
    lease->body = json_take_text(lease_object_write(request == MAKE ? NULL : lease->object, &write),
                                 JSON_COMPACT, &len);
    return len;
}

static struct lease_action ask(struct lease *lease, int64_t now_ms, int64_t wall_ms)
{
    enum lease_request request = lease->next;
    const bool is_old = now_ms >= lease->status.renewed_ms + lease->settings.duration_ms;
    if (request == RENEW && is_old)
        request = READ;
    struct lease_action action = {.sends = true, .until_ms = CLOCK_NEVER};
    action.request = (struct kube_request){
        .method = method_of(request),
        .path = buf_text(request == MAKE ? &lease->collection : &lease->path),
        .timeout_ms = lease->settings.renew_deadline_ms / TRIES,
    };
    if (request != READ) {
        action.request.body_len = write_body(lease, request, wall_ms);
        action.request.body = lease->body;
    }
    if (request != READ && request != GIVE_UP) {
        lease->may_be_ours = true;
        lease->written_ms = now_ms;
    }
    lease->asked = request;
    lease->asked_ms = now_ms;
    lease->is_hinted = false;
    lease->has_ended = false;
    return action;
}

static int64_t deadline_ms(const struct lease *lease)
{
    if (!lease->status.leads)
        return CLOCK_NEVER;
    return lease->status.renewed_ms + lease->settings.renew_deadline_ms;
}

static struct lease_action wait_until(int64_t a_ms, int64_t b_ms)
{
    return (struct lease_action){.until_ms = a_ms < b_ms ? a_ms : b_ms};
}

struct lease_action lease_next(struct lease *lease, int64_t now_ms, int64_t wall_ms)
{
    if (now_ms >= deadline_ms(lease))
        lose(lease);
    if (lease->asked != NO_REQUEST)
        return wait_until(deadline_ms(lease), CLOCK_NEVER);
    if (now_ms < lease->due_ms)
        return wait_until(deadline_ms(lease), lease->due_ms);
    return ask(lease, now_ms, wall_ms);
}

/* ---- answers ---- */

static void explain(struct lease *lease, enum lease_request request,
                    const struct kube_answer *answer)
{
    request_text_explain(&lease->why, method_of(request), buf_text(&lease->path), answer);
}

static void fail_round(struct lease *lease, enum lease_request request,
                       const struct kube_answer *answer)
{
    explain(lease, request, answer);
    lease->status.failures++;
    if (request == READ)
        lease->is_gone = false; /* it may have existed meanwhile */
    end_round(lease, answer->at_ms, answer->retry_after_s);
}

/* Returns the Lease in the answer, the caller's; NULL: none. */
static json_t *lease_in(const struct kube_answer *answer)
{
    struct lease_record record;
    json_t *object = request_text_object(answer);
    if (lease_object_read(object, &record, NULL) == 0)
        return object;
    json_decref(object);
    return NULL;
}

/* When no replica can lead by the deleted Lease any more. Another holder may have renewed it just
 * before the deletion, unseen, so its last known renewal proves nothing. Our own does. */
static int64_t free_ms(const struct lease *lease, int64_t now_ms)
{
    const struct lease_record record = record_of(lease);
    const int64_t ours_until_ms = lease->status.renewed_ms + lease->settings.duration_ms;
    if (lease->status.term > 0 && is_ours(lease, &record) && now_ms < ours_until_ms)
        return now_ms;
    return lease->gone_ms + lease->settings.duration_ms;
}

static void judge_gone(struct lease *lease, int64_t now_ms)
{
    if (!lease->is_gone)
        lease->gone_ms = now_ms;
    lease->is_gone = true;
    lease->may_be_ours = false;
    buf_clear(&lease->why);
    lose_deleted(lease);
    if (lease->aim == LEASE_LEAD && free_ms(lease, now_ms) <= now_ms)
        ask_next(lease, MAKE, now_ms);
    else if (lease->aim == LEASE_LEAD)
        follow(lease, now_ms, free_ms(lease, now_ms));
    else
        end_round(lease, now_ms, -1);
}

static void judge_read(struct lease *lease, const struct kube_answer *answer, json_t *object)
{
    if (!object) {
        if (answer->status == 404)
            judge_gone(lease, answer->at_ms);
        else
            fail_round(lease, READ, answer);
        return;
    }
    see(lease, answer->at_ms, object);
    const struct lease_record record = record_of(lease);
    lease->may_be_ours = is_ours(lease, &record);
    buf_clear(&lease->why);
    if (is_held_by_another(lease, answer->at_ms)) {
        if (lease->status.leads)
            lose(lease);
        follow_holder(lease, answer->at_ms);
    } else if (lease->aim == LEASE_LEAD || lease->status.leads) {
        ask_next(lease, TAKE, answer->at_ms);
    } else if (lease->aim == LEASE_LEAVE && lease->may_be_ours) {
        ask_next(lease, GIVE_UP, answer->at_ms);
    } else {
        end_round(lease, answer->at_ms, -1);
    }
}

static void judge_write(struct lease *lease, enum lease_request request,
                        const struct kube_answer *answer, json_t *object)
{
    if (object && lease->has_ended) {
        /* The deletion may have followed this write. */
        see(lease, answer->at_ms, object);
        ask_next(lease, READ, answer->at_ms);
    } else if (object) {
        see(lease, answer->at_ms, object);
        hold(lease, answer->at_ms);
    } else if (request == RENEW) {
        if (answer->status == 404)
            lose_deleted(lease);
        explain(lease, request, answer);
        lease->status.failures += answer->status != 409;
        ask_next(lease, READ, answer->at_ms);
    } else if (answer->status == 409) {
        end_round(lease, answer->at_ms, -1);
    } else {
        fail_round(lease, request, answer);
    }
}

static void judge_give_up(struct lease *lease, const struct kube_answer *answer, json_t *object)
{
    if (object) {
        see(lease, answer->at_ms, object);
        lease->may_be_ours = false;
        end_round(lease, answer->at_ms, -1);
    } else if (answer->status == 409) {
        ask_next(lease, READ, answer->at_ms);
    } else {
        fail_round(lease, GIVE_UP, answer);
    }
}

void lease_answered(struct lease *lease, const struct kube_answer *answer)
{
    const enum lease_request request = lease->asked;
    json_t *object = lease_in(answer);
    lease->asked = NO_REQUEST;
    if (request == READ)
        judge_read(lease, answer, object);
    else if (request == GIVE_UP)
        judge_give_up(lease, answer, object);
    else
        judge_write(lease, request, answer, object);
    if (lease->is_hinted && !lease->status.leads)
        ask_next(lease, READ, answer->at_ms);
    lease->is_hinted = false;
}

/* ---- hints ---- */

static void hurry(struct lease *lease, int64_t due_ms)
{
    lease->is_hinted = lease->asked != NO_REQUEST;
    ask_next(lease, READ, due_ms);
}

static void see_change(struct lease *lease, int64_t now_ms, const json_t *object)
{
    struct lease_record record = {.holder = "", .version = ""};
    if (lease_object_read(object, &record, NULL) < 0 ||
        resource_version_less(record.version, record_of(lease).version))
        return;
    const bool is_news = strcmp(record.version, record_of(lease).version) != 0;
    if (lease->status.leads) {
        if (is_news && !is_ours(lease, &record))
            hurry(lease, now_ms);
        return;
    }
    see(lease, now_ms, json_deep_copy(object));
    /* A write that is about to be sent would now succeed on top of it: read first. */
    if (is_news && !is_held_by_another(lease, now_ms))
        hurry(lease, now_ms);
    else if (is_news && lease->next != READ)
        follow_holder(lease, now_ms);
    else if (is_news && expiry_ms(lease, &record) < lease->due_ms)
        ask_next(lease, READ, expiry_ms(lease, &record));
}

void lease_seen(struct lease *lease, int64_t now_ms, const json_t *object)
{
    if (object) {
        see_change(lease, now_ms, object);
        return;
    }
    lease->has_ended = true;
    lose_deleted(lease);
    hurry(lease, now_ms);
}

/* ---- the goal ---- */

void lease_set_aim(struct lease *lease, int64_t now_ms, enum lease_aim aim)
{
    if (aim == lease->aim)
        return;
    lease->aim = aim;
    if (aim == LEASE_LEAVE)
        lease->status.leads = false;
    if (!lease->status.leads)
        hurry(lease, now_ms);
}

bool lease_has_left(const struct lease *lease)
{
    return lease->aim == LEASE_LEAVE && !lease->may_be_ours;
}

struct lease_status lease_status(const struct lease *lease)
{
    struct lease_status status = lease->status;
    status.holder = lease->holder;
    status.why = buf_text(&lease->why);
    return status;
}
