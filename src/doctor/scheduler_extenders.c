/* scheduler_extenders: see scheduler_checks.h. */
#include "base/base64.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/table.h"
#include "config/syntax.h"
#include "formats/json_values.h"
#include "http/tls.h"
#include "scheduler_checks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RESOURCES "managedResources"
#define TLS "tlsConfig"
#define PATH_BYTES 80
#define PEM_BYTES_MAX ((size_t)1024 * 1024)

/* A name of managedResources, and the extender that lists it first. */
struct managed {
    UT_hash_handle hh;
    const char *name;
    size_t extender;
};

struct extender_walk {
    const struct scheduler_checks *checks;
    struct managed *managed;
    size_t n_binders;
    size_t index; /* of the extender */
    json_t *extender;
};

/* Its quota is named REQUESTS NAME, so the domain must be shorter. */
#define REQUESTS "requests."
#define DOMAIN_LEN_MAX (253 - strlen(REQUESTS))

bool scheduler_extenders_may_manage(const char *resource)
{
    return !syntax_whole_resource(resource) && strcspn(resource, "/") <= DOMAIN_LEN_MAX &&
           !strstr(resource, "kubernetes.io/") &&
           strncmp(resource, REQUESTS, strlen(REQUESTS)) != 0;
}

static void check_weight(const struct extender_walk *walk)
{
    const json_t *weight = json_member(walk->extender, "weight");
    struct scheduler_checks of_this = *walk->checks;
    if (!*scheduler_text(walk->extender, "prioritizeVerb") ||
        (weight && !json_is_integer(weight)) || json_integer_value(weight) > 0)
        return;
    of_this.index = walk->index;
    of_this.ours = walk->extender;
    scheduler_report(&of_this, FINDING_FAIL, "weight", "set the weight of the policy",
                     "is %" PRId64 ", should be positive beside prioritizeVerb: kube-scheduler "
                     "does not start",
                     (int64_t)json_integer_value(weight));
}

/* One set of names over all extenders. */
static void take_name(struct extender_walk *walk, const struct yaml_value *at, const char *name)
{
    struct managed *first = NULL;
    if (!scheduler_extenders_may_manage(name))
        scheduler_report_at(walk->checks, FINDING_FAIL, RESOURCES, at,
                            "kube-scheduler does not start: list whole names, or take all pods "
                            "(manifests/kube-scheduler-config-all-pods.yaml)",
                            "%s: should be the whole name of an extended resource, such as "
                            "nvidia.com/gpu, and not of kubernetes.io",
                            name);
    HASH_FIND_STR(walk->managed, name, first);
    if (first && first->extender == walk->index)
        scheduler_report_at(walk->checks, FINDING_FAIL, RESOURCES, at,
                            "kube-scheduler does not start: remove one", "%s: is listed twice",
                            name);
    else if (first)
        scheduler_report_at(walk->checks, FINDING_FAIL, RESOURCES, at,
                            "kube-scheduler does not start: only one extender may manage a "
                            "resource",
                            "%s: extenders[%zu] manages it, too", name, first->extender);
    if (first)
        return;
    first = MEM_NEW(struct managed);
    *first = (struct managed){.name = name, .extender = walk->index};
    HASH_ADD_KEYPTR(hh, walk->managed, name, strlen(name), first);
}

static void check_resources(struct extender_walk *walk)
{
    json_t *list = json_object_get(walk->extender, RESOURCES);
    struct scheduler_item item;
    for (size_t i = 0; i < json_array_size(list); i++) {
        scheduler_item_place(&item, list, i, "extenders[%zu]." RESOURCES, walk->index);
        if (json_is_object(item.at.value) || json_is_null(item.at.value))
            take_name(walk, &item.at, scheduler_text(item.at.value, "name"));
    }
}

static bool is_set(const json_t *object, const char *key)
{
    return *scheduler_text(object, key) != '\0';
}

/* The bytes of a member in base64; false: there are none. */
static bool read_data(const json_t *tls, const char *key, struct buf *ret_bytes)
{
    char *bytes CLEANUP(mem_free_ptr) = NULL;
    size_t len = 0;
    if (!is_set(tls, key) || base64_decode(scheduler_text(tls, key), &bytes, &len) < 0)
        return false;
    buf_add(ret_bytes, bytes, len);
    return true;
}

static void check_pem(const struct extender_walk *walk, const struct yaml_value *at)
{
    struct buf authority;
    struct buf certificate;
    struct buf key;
    struct err err;
    buf_init(&authority, PEM_BYTES_MAX);
    buf_init(&certificate, PEM_BYTES_MAX);
    buf_init(&key, PEM_BYTES_MAX);
    if (read_data(at->value, "caData", &authority) &&
        !strstr(buf_text(&authority), "-----BEGIN CERTIFICATE-----"))
        scheduler_report_at(walk->checks, FINDING_FAIL, TLS, at,
                            "kube-scheduler does not start: write the base64 of a PEM text",
                            "caData has no certificate");
    if (read_data(at->value, "certData", &certificate) && read_data(at->value, "keyData", &key) &&
        tls_check_pair(&certificate, &key, &err) < 0)
        scheduler_report_at(walk->checks, FINDING_FAIL, TLS, at,
                            "kube-scheduler does not start: correct certData or keyData",
                            "certData and keyData: %s", err.text);
    buf_fini(&authority);
    buf_fini(&certificate);
    buf_fini(&key);
}

/* Files are where kube-scheduler runs, and are not read. */
static void check_tls(const struct extender_walk *walk)
{
    char path[PATH_BYTES];
    json_t *tls = json_member(walk->extender, TLS);
    (void)snprintf(path, sizeof path, "extenders[%zu]." TLS, walk->index);
    const struct yaml_value at = {walk->extender, TLS, path, tls};
    if (json_is_true(json_member(tls, "insecure")) &&
        (is_set(tls, "caFile") || is_set(tls, "caData")))
        scheduler_report_at(walk->checks, FINDING_FAIL, TLS, &at,
                            "kube-scheduler does not start: remove insecure",
                            "has insecure beside a CA");
    check_pem(walk, &at);
}

static void free_names(struct managed *managed)
{
    struct managed *item = NULL;
    struct managed *next = NULL;
    HASH_ITER (hh, managed, item, next) {
        HASH_DEL(managed, item);
        free(item);
    }
}

void scheduler_extenders_check(const struct scheduler_checks *checks)
{
    struct extender_walk walk = {.checks = checks};
    const struct yaml_value at = {checks->file->root, "extenders", "extenders", checks->extenders};
    json_array_foreach (checks->extenders, walk.index, walk.extender) {
        check_weight(&walk);
        check_resources(&walk);
        check_tls(&walk);
        walk.n_binders += *scheduler_text(walk.extender, "bindVerb") != '\0';
    }
    if (walk.n_binders > 1)
        scheduler_report_at(checks, FINDING_FAIL, "binders", &at,
                            "kube-scheduler does not start: remove bindVerb from the others",
                            "%zu extenders have a bindVerb, only one may", walk.n_binders);
    free_names(walk.managed);
}
