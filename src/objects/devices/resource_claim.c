/* resource_claim: see include/objects/claims.h. */
#include "objects/claims.h"

#include "formats/json_values.h"
#include "objects/claim_spec.h"
#include "objects/device_details.h"
#include "objects/devices/selector_texts.h"
#include "objects/fields.h"
#include "objects/identity.h"
#include "objects/label_text.h"

#include <errno.h>
#include <string.h>

/* ---- what it wants ---- */

static int64_t add_devices(int64_t a, int64_t b)
{
    return b >= CLAIM_DEVICES_MAX - a ? CLAIM_DEVICES_MAX : a + b;
}

/* Devices of a request, or of one of its alternatives; sets wants_all. With an unknown mode it gets
 * one or more, as with All. */
static int read_count(const json_t *request, struct claim_facts *facts, int64_t *ret_n,
                      struct err *err)
{
    const char *mode = "";
    int64_t n = 1; /* the default */
    int r = 0;
    if ((r = json_get_string(request, "allocationMode", &mode, err)) < 0 ||
        (r = json_get_integer(request, "count", &n, err)) < 0)
        return r;
    bool has_count = !mode[0] || strcmp(mode, "ExactCount") == 0;
    facts->wants_all |= !has_count;
    *ret_n = has_count && n > 0 ? add_devices(0, n) : 1;
    return 0;
}

static int read_exact(const json_t *request, struct claim_facts *facts, int64_t *ret_n,
                      struct err *err)
{
    bool is_admin = false;
    int r = json_get_bool(request, "adminAccess", &is_admin, err);
    return r < 0 || is_admin ? r : read_count(request, facts, ret_n, err);
}

static int read_alternatives(const json_t *list, struct claim_facts *facts, int64_t *ret_n,
                             struct err *err)
{
    const size_t n = json_array_size(list);
    int64_t least = CLAIM_DEVICES_MAX;
    for (size_t i = 0; i < n; i++) {
        json_t *alternative = NULL;
        int64_t wanted = 0;
        int r = element_object(list, i, "firstAvailable", &alternative, err);
        if (r < 0)
            return r;
        if ((r = read_count(alternative, facts, &wanted, err)) < 0) {
            err_prefix(err, "firstAvailable[%zu].", i);
            return r;
        }
        least = wanted < least ? wanted : least;
    }
    facts->has_alternatives |= n > 1;
    *ret_n = least;
    return 0;
}

static int read_request(const json_t *request, struct claim_facts *facts, struct err *err)
{
    json_t *alternatives = NULL;
    json_t *exactly = NULL;
    int64_t n = 0;
    int r = json_get_array(request, "firstAvailable", &alternatives, err);
    if (r == 0)
        r = json_get_object(request, "exactly", &exactly, err);
    if (r < 0)
        return r;
    if (json_array_size(alternatives) > 0)
        r = read_alternatives(alternatives, facts, &n, err);
    else
        r = read_exact(exactly ? exactly : request, facts, &n, err);
    if (r < 0) {
        if (exactly)
            err_prefix(err, "exactly.");
        return r;
    }
    facts->n_devices = add_devices(facts->n_devices, n);
    return 0;
}

/* Reads a list of at most CLAIM_RESULTS_MAX objects. */
static int get_list(const json_t *object, const char *member, json_t **ret_list, struct err *err)
{
    json_t *list = NULL;
    int r = json_get_array(object, member, &list, err);
    if (r < 0)
        return r;
    if (json_array_size(list) > CLAIM_RESULTS_MAX)
        return err_set(err, EINVAL, "%s: are %zu, should be at most %d", member,
                       json_array_size(list), CLAIM_RESULTS_MAX);
    *ret_list = list;
    return 0;
}

static int read_requests(const json_t *devices, struct claim_facts *facts, struct err *err)
{
    json_t *list = NULL;
    int r = get_list(devices, "requests", &list, err);
    for (size_t i = 0; r == 0 && i < json_array_size(list); i++) {
        json_t *request = NULL;
        if ((r = element_object(list, i, "requests", &request, err)) < 0)
            return r;
        if ((r = read_request(request, facts, err)) < 0)
            err_prefix(err, "requests[%zu].", i);
    }
    return r;
}

/* The devices that one request, or one of its alternatives, asks for. A class that is missing or
 * has too long a name is "". */
static struct claim_want kind_of(const json_t *exact, struct arena *arena)
{
    const char *name = json_string_value(json_member(exact, "deviceClassName"));
    return (struct claim_want){
        .class_name = name && strlen(name) <= META_NAME_BYTES_MAX ? name : "",
        .driver = selector_texts_driver(json_member(exact, "selectors"), arena)};
}

/* The want of a request. Alternatives of several classes or drivers have none. */
static struct claim_want want_of(const json_t *request, struct arena *arena)
{
    const json_t *alternatives = json_member(request, "firstAvailable");
    const json_t *exactly = json_member(request, "exactly");
    if (json_array_size(alternatives) == 0)
        return kind_of(exactly ? exactly : request, arena);
    struct claim_want want = kind_of(json_array_get(alternatives, 0), arena);
    for (size_t i = 1; i < json_array_size(alternatives); i++) {
        const struct claim_want other = kind_of(json_array_get(alternatives, i), arena);
        want.class_name = strcmp(other.class_name, want.class_name) == 0 ? want.class_name : "";
        want.driver = strcmp(other.driver, want.driver) == 0 ? want.driver : "";
    }
    return want;
}

static void add_want(struct claim_want *wants, size_t *n_wants, const struct claim_want *more)
{
    size_t i = 0;
    while (i < *n_wants && (strcmp(wants[i].class_name, more->class_name) != 0 ||
                            strcmp(wants[i].driver, more->driver) != 0))
        i++;
    if (i == CLAIM_WANTS_MAX)
        return;
    if (i == *n_wants)
        wants[(*n_wants)++] = (struct claim_want){more->class_name, more->driver, 0};
    wants[i].n_devices = add_devices(wants[i].n_devices, more->n_devices);
}

/* Call after read_requests(). */
static void read_wants(const json_t *devices, struct arena *arena, struct claim_facts *facts)
{
    const json_t *list = json_member(devices, "requests");
    struct claim_want *wants = ARENA_ARRAY(arena, struct claim_want, CLAIM_WANTS_MAX);
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct claim_facts alone = {0};
        struct err err;
        const json_t *request = json_array_get(list, i);
        struct claim_want want = want_of(request, arena);
        if (read_request(request, &alone, &err) < 0 || alone.n_devices == 0 ||
            (!want.class_name[0] && !want.driver[0]))
            continue;
        want.class_name = arena_strdup(arena, want.class_name);
        want.n_devices = alone.n_devices;
        add_want(wants, &facts->n_wants, &want);
    }
    facts->wants = wants;
}

static int read_spec(const json_t *spec, struct arena *arena, struct claim_facts *facts,
                     struct err *err)
{
    json_t *devices = NULL;
    int r = json_get_object(spec, "devices", &devices, err);
    if (r < 0)
        return r;
    if ((r = read_requests(devices, facts, err)) < 0)
        err_prefix(err, "devices.");
    else
        read_wants(devices, arena, facts);
    return r;
}

/* ---- what it has ---- */

static int read_result(const json_t *object, struct arena *arena, struct claim_result *ret_result,
                       struct err *err)
{
    struct claim_result result = {.driver = "", .pool = "", .device = ""};
    const char *share = "";
    int r = 0;
    if ((r = meta_name(object, "driver", arena, &result.driver, err)) < 0 ||
        (r = meta_name(object, "pool", arena, &result.pool, err)) < 0 ||
        (r = meta_name(object, "device", arena, &result.device, err)) < 0 ||
        (r = json_get_bool(object, "adminAccess", &result.is_admin, err)) < 0 ||
        (r = json_get_string(object, "shareID", &share, err)) < 0)
        return r;
    if (!result.driver[0] || !result.pool[0] || !result.device[0])
        return err_set(err, EINVAL, "driver, pool or device: is missing");
    result.is_shared = share[0] != '\0';
    result.consumed = result.is_shared ? consumed_capacity_text(object, arena) : NULL;
    *ret_result = result;
    return 0;
}

static int read_results(const json_t *devices, struct arena *arena, struct claim_facts *facts,
                        struct err *err)
{
    json_t *list = NULL;
    int r = get_list(devices, "results", &list, err);
    if (r < 0)
        return r;
    const size_t n = json_array_size(list);
    struct claim_result *results = ARENA_ARRAY(arena, struct claim_result, n);
    for (size_t i = 0; i < n; i++) {
        json_t *object = NULL;
        if ((r = element_object(list, i, "results", &object, err)) < 0)
            return r;
        if ((r = read_result(object, arena, &results[i], err)) < 0) {
            err_prefix(err, "results[%zu].", i);
            return r;
        }
    }
    facts->results = results;
    facts->n_results = n;
    return 0;
}

static int read_allocation(const json_t *status, struct arena *arena, struct claim_facts *facts,
                           struct err *err)
{
    json_t *allocation = NULL;
    json_t *devices = NULL;
    int r = json_get_object(status, "allocation", &allocation, err);
    if (r < 0 || !allocation)
        return r;
    facts->is_allocated = true;
    facts->nodes = claim_nodes_text(json_member(allocation, "nodeSelector"), arena);
    if ((r = json_get_object(allocation, "devices", &devices, err)) == 0 &&
        (r = read_results(devices, arena, facts, err)) < 0)
        err_prefix(err, "devices.");
    if (r < 0)
        err_prefix(err, "allocation.");
    return r;
}

/* ---- binding conditions ---- */

/* Of each list, many more than the API server accepts. */
#define CONDITIONS_MAX ((size_t)64)

static bool is_same(const json_t *a, const json_t *b, const char *member)
{
    const json_t *other = json_member(b, member);
    return json_member(a, member) ? json_equal(json_member(a, member), other) : !other;
}

/* The conditions that the driver sets for the device of a result, borrowed; NULL: none. */
static const json_t *conditions_of(const json_t *status, const json_t *result)
{
    size_t i = 0;
    json_t *device = NULL;
    json_array_foreach (json_member(status, "devices"), i, device) {
        if (is_same(device, result, "driver") && is_same(device, result, "pool") &&
            is_same(device, result, "device") && is_same(device, result, "shareID"))
            return json_member(device, "conditions");
    }
    return NULL;
}

static bool is_true(const json_t *conditions, const char *type)
{
    size_t i = 0;
    json_t *condition = NULL;
    json_array_foreach (conditions, i, condition) {
        const char *own = json_string_value(json_member(condition, "type"));
        const char *status = json_string_value(json_member(condition, "status"));
        if (own && status && strcmp(own, type) == 0)
            return strcmp(status, "True") == 0;
    }
    return false;
}

static bool is_any(const json_t *types, const json_t *conditions, bool wanted)
{
    size_t i = 0;
    json_t *type = NULL;
    json_array_foreach (types, i, type) {
        const char *name = json_string_value(type);
        if (is_true(conditions, name ? name : "") == wanted)
            return true;
    }
    return false;
}

/* Manifests may have longer lists: nobody compares all of them. */
static bool has_too_many(const json_t *result, const json_t *conditions)
{
    return json_array_size(json_member(result, "bindingConditions")) > CONDITIONS_MAX ||
           json_array_size(json_member(result, "bindingFailureConditions")) > CONDITIONS_MAX ||
           json_array_size(conditions) > CONDITIONS_MAX;
}

/* isClaimReadyForBinding() in kube-scheduler's plugin DynamicResources. */
static bool is_unready(const json_t *status)
{
    const json_t *devices = json_member(json_member(status, "allocation"), "devices");
    size_t i = 0;
    json_t *result = NULL;
    json_array_foreach (json_member(devices, "results"), i, result) {
        const json_t *types = json_member(result, "bindingConditions");
        const json_t *conditions =
            json_array_size(types) > 0 ? conditions_of(status, result) : NULL;
        if (has_too_many(result, conditions) || is_any(types, conditions, false) ||
            (conditions &&
             is_any(json_member(result, "bindingFailureConditions"), conditions, true)))
            return true;
    }
    return false;
}

/* ---- who uses it ---- */

/* Borrowed; NULL: no pod, or a UID that is not kept. */
static const char *uid_of_pod(const json_t *reference)
{
    const char *group = json_string_value(json_member(reference, "apiGroup"));
    const char *resource = json_string_value(json_member(reference, "resource"));
    const char *uid = json_string_value(json_member(reference, "uid"));
    if ((group && group[0]) || !resource || strcmp(resource, "pods") != 0)
        return NULL;
    return uid && uid[0] && strlen(uid) <= CLAIM_HOLDER_BYTES_MAX ? uid : NULL;
}

static void keep_holder(const json_t *reference, const char *uid, struct arena *arena,
                        const char **ret_uid, const char **ret_name)
{
    const char *name = json_string_value(json_member(reference, "name"));
    const bool is_kept = name && strlen(name) <= META_NAME_BYTES_MAX;
    *ret_uid = arena_strdup(arena, uid);
    *ret_name = is_kept ? arena_strdup(arena, name) : "";
}

static int read_holders(const json_t *status, struct arena *arena, struct claim_facts *facts,
                        struct err *err)
{
    json_t *list = NULL;
    int r = json_get_array(status, "reservedFor", &list, err);
    if (r < 0)
        return r;
    const size_t n = json_array_size(list);
    const size_t n_kept_at_most = n < CLAIM_HOLDERS_MAX ? n : CLAIM_HOLDERS_MAX;
    const char **holders = ARENA_ARRAY(arena, const char *, n_kept_at_most);
    const char **names = ARENA_ARRAY(arena, const char *, n_kept_at_most);
    size_t n_kept = 0;
    for (size_t i = 0; i < n && n_kept < n_kept_at_most; i++) {
        const char *uid = uid_of_pod(json_array_get(list, i));
        if (uid)
            keep_holder(json_array_get(list, i), uid, arena, &holders[n_kept], &names[n_kept]);
        n_kept += uid != NULL;
    }
    facts->holders = holders;
    facts->holder_names = names;
    facts->n_holders = n_kept;
    facts->n_all_holders = n;
    return 0;
}

static int read_status(const json_t *status, struct arena *arena, struct claim_facts *facts,
                       struct err *err)
{
    int r = read_allocation(status, arena, facts, err);
    if (r == 0)
        r = read_holders(status, arena, facts, err);
    if (r < 0)
        err_prefix(err, "status.");
    facts->is_unready = r == 0 && is_unready(status);
    return r;
}

/* ---- whose it is ---- */

/* UID of the controlling owner, borrowed; "": none. Ignores members of a wrong type. */
static const char *owner_of(const json_t *metadata)
{
    size_t i = 0;
    json_t *reference = NULL;
    json_array_foreach (json_member(metadata, "ownerReferences"), i, reference) {
        const char *uid = json_string_value(json_member(reference, "uid"));
        if (json_is_true(json_member(reference, "controller")) && uid &&
            strlen(uid) <= CLAIM_HOLDER_BYTES_MAX)
            return uid;
    }
    return "";
}

/* Whether kube-scheduler made the claim for extended resources of its owner
 * (findExtendedResourceClaim() in its plugin DynamicResources). */
static bool is_for_extended(const json_t *metadata)
{
    const char *mark = json_string_value(json_member(
        json_member(metadata, "annotations"), "resource.kubernetes.io/extended-resource-claim"));
    return mark && strcmp(mark, "true") == 0;
}

static int read_metadata(const json_t *object, struct arena *arena, struct claim_facts *facts,
                         struct err *err)
{
    const json_t *metadata = json_member(object, "metadata");
    struct identity identity;
    const char *deleted = "";
    int r = identity_from_json(object, arena, &identity, err);
    if (r < 0)
        return r;
    if ((r = json_get_string(metadata, "deletionTimestamp", &deleted, err)) < 0) {
        err_prefix(err, "metadata.");
        return r;
    }
    facts->namespace_ = identity_namespace(&identity);
    facts->name = identity.name;
    facts->uid = identity.uid;
    facts->terminating = deleted[0] != '\0';
    facts->owner_uid = arena_strdup(arena, owner_of(metadata));
    facts->extended_for_uid = is_for_extended(metadata) ? facts->owner_uid : "";
    return 0;
}

int resource_claim_from_json(const json_t *object, struct arena *arena,
                             struct claim_facts *ret_facts, struct err *err)
{
    struct claim_facts facts = {0};
    json_t *spec = NULL;
    json_t *status = NULL;
    int r = read_metadata(object, arena, &facts, err);
    if (r < 0)
        return r;
    if ((r = json_get_object(object, "spec", &spec, err)) < 0 ||
        (r = json_get_object(object, "status", &status, err)) < 0)
        return r;
    if ((r = read_spec(spec, arena, &facts, err)) < 0) {
        err_prefix(err, "spec.");
        return r;
    }
    if ((r = read_status(status, arena, &facts, err)) < 0)
        return r;
    facts.spec = claim_spec_text(spec, arena);
    facts.labels = label_text_read(json_member(object, "metadata"), arena);
    *ret_facts = facts;
    return 0;
}

int claim_template_from_json(const json_t *object, struct arena *arena,
                             struct claim_template_facts *ret_facts, struct err *err)
{
    struct claim_facts facts = {0};
    json_t *outer = NULL;
    json_t *spec = NULL;
    int r = read_metadata(object, arena, &facts, err);
    if (r < 0)
        return r;
    if ((r = json_get_object(object, "spec", &outer, err)) < 0)
        return r;
    if ((r = json_get_object(outer, "spec", &spec, err)) < 0 ||
        (r = read_spec(spec, arena, &facts, err)) < 0) {
        err_prefix(err, spec ? "spec.spec." : "spec.");
        return r;
    }
    *ret_facts = (struct claim_template_facts){.namespace_ = facts.namespace_,
                                               .name = facts.name,
                                               .wants = facts.wants,
                                               .n_wants = facts.n_wants,
                                               .spec = claim_spec_text(spec, arena)};
    return 0;
}
