/* lease_object: see lease_object.h. */
#include "lease_object.h"

#include "formats/json_get.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

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

int lease_object_read(const json_t *object, struct lease_record *ret_record, struct err *err)
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

bool lease_object_same(const json_t *a, const json_t *b)
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

json_t *lease_object_write(const json_t *object, const struct lease_write *write)
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
