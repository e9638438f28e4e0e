/* devices: see include/dra/devices.h and devices_priv.h. */
#include "base/mem.h"
#include "devices_priv.h"

#include <stdlib.h>
#include <string.h>

struct devices *devices_new(const struct policy *policy)
{
    struct devices *devices = MEM_NEW(struct devices);
    devices->policy = policy;
    return devices;
}

void devices_settle(struct devices *devices)
{
    pools_settle(devices);
    node_pools_relink(devices);
    counters_recount(devices);
    pools_settle(devices); /* with what the sets say */
    node_pools_judge(devices);
    counters_settle(devices);
    gpus_settle(devices);
}

/* Objects. */

static struct object *find(const struct devices *devices, enum devices_kind kind, const char *key,
                           size_t len)
{
    struct object *object = NULL;
    HASH_FIND(hh, devices->objects[kind], key, len, object);
    return object;
}

static void put(struct devices *devices, enum devices_kind kind, struct object *object,
                const char *key, size_t len)
{
    object->seen = devices->relists[kind];
    object->serial = ++devices->n_serials;
    HASH_ADD_KEYPTR(hh, devices->objects[kind], key, len, object);
}

/* Returns the work: what was visited, as devices_relist_sweep() counts. */
static size_t remove_object(struct devices *devices, enum devices_kind kind, struct object *object)
{
    size_t work = DEVICES_SWEEP_DELETION;
    if (devices->swept_to[kind] == object)
        devices->swept_to[kind] = object->hh.next;
    HASH_DEL(devices->objects[kind], object);
    if (kind == DEVICES_SLICES) {
        struct kept_slice *slice = CONTAINER_OF(object, struct kept_slice, object);
        work += slice->n_devices * DEVICES_SWEEP_DELETION + slice->n_counters;
        if (slice->pool->driver)
            slices_detach(devices, slice);
        slices_free(devices, slice);
    } else if (kind == DEVICES_CLAIMS) {
        struct kept_claim *claim = CONTAINER_OF(object, struct kept_claim, object);
        device_claims_use(devices, claim, false);
        device_claims_remove(devices, claim);
    } else {
        struct taint_rule *rule = CONTAINER_OF(object, struct taint_rule, object);
        work += taint_rules_apply(devices, rule, false);
        taint_rules_free(devices, rule);
    }
    return work;
}

static void remove_and_settle(struct devices *devices, enum devices_kind kind,
                              struct object *object)
{
    if (!object)
        return;
    (void)remove_object(devices, kind, object);
    devices_settle(devices);
}

/* Slices. */

/* Not if too many others have no room, either. */
static struct kept_slice *put_slice(struct devices *devices, const struct slice_facts *facts)
{
    struct slice_room room = slice_room_take(devices, facts);
    devices->forgotten = room.is_forgotten ? room.full : NULL;
    if (room.is_forgotten) {
        slice_room_release(devices, &room);
        return NULL;
    }
    struct kept_slice *slice = slices_new(devices, facts, &room);
    if (slice->pool->driver)
        slices_attach(devices, slice);
    return slice;
}

/* The older one goes last, so that the pools and names of both stay. */
void devices_upsert_slice(struct devices *devices, const struct slice_facts *facts)
{
    const size_t len = strlen(facts->name);
    struct object *old = find(devices, DEVICES_SLICES, facts->name, len);
    if (old)
        slice_room_release(devices, &CONTAINER_OF(old, struct kept_slice, object)->room);
    struct kept_slice *slice = put_slice(devices, facts);
    if (old)
        (void)remove_object(devices, DEVICES_SLICES, old);
    if (slice)
        put(devices, DEVICES_SLICES, &slice->object, slice->name, len);
    devices_settle(devices);
}

const char *devices_slice_bound(const struct devices *devices, const char *name)
{
    const struct object *object = find(devices, DEVICES_SLICES, name, strlen(name));
    const char *full =
        object ? CONTAINER_OF(object, struct kept_slice, object)->room.full : devices->forgotten;
    return full && full[0] ? full : NULL;
}

bool devices_have_gpus(const struct devices *devices)
{
    const struct object *object = devices->objects[DEVICES_SLICES];
    while (object && !CONTAINER_OF(object, struct kept_slice, object)->pool->driver)
        object = object->hh.next;
    return object != NULL;
}

void devices_delete_slice(struct devices *devices, const char *name)
{
    remove_and_settle(devices, DEVICES_SLICES, find(devices, DEVICES_SLICES, name, strlen(name)));
}

void devices_keep_slice(struct devices *devices, const char *name)
{
    struct object *object = find(devices, DEVICES_SLICES, name, strlen(name));
    if (!object)
        return;
    struct kept_slice *slice = CONTAINER_OF(object, struct kept_slice, object);
    object->seen = devices->relists[DEVICES_SLICES];
    if (slice->is_unreadable)
        return;
    slice->is_unreadable = true;
    if (!slice->pool->driver)
        return;
    pools_mark(devices, slice->pool);
    devices_settle(devices);
}

/* Claims. */

static struct object *find_claim(const struct devices *devices, const char *namespace_,
                                 const char *name)
{
    size_t len = 0;
    char *key CLEANUP(mem_free_ptr) = device_claims_key(namespace_, name, &len);
    return find(devices, DEVICES_CLAIMS, key, len);
}

void devices_upsert_claim(struct devices *devices, const struct claim_facts *facts)
{
    struct object *old = find_claim(devices, facts->namespace_, facts->name);
    struct kept_claim *claim = device_claims_new(devices, facts);
    const struct device_claim *shown = &claim->shown;
    device_claims_use(devices, claim, true);
    if (old)
        (void)remove_object(devices, DEVICES_CLAIMS, old);
    put(devices, DEVICES_CLAIMS, &claim->object, shown->namespace_,
        strlen(shown->namespace_) + 1 + strlen(shown->name));
    device_claims_mark(devices, claim);
    devices_settle(devices);
}

void devices_delete_claim(struct devices *devices, const char *namespace_, const char *name)
{
    remove_and_settle(devices, DEVICES_CLAIMS, find_claim(devices, namespace_, name));
}

void devices_keep_claim(struct devices *devices, const char *namespace_, const char *name)
{
    struct object *object = find_claim(devices, namespace_, name);
    if (object)
        object->seen = devices->relists[DEVICES_CLAIMS];
}

const struct device_claim *devices_find_claim(const struct devices *devices, const char *namespace_,
                                              const char *name)
{
    const struct object *object = find_claim(devices, namespace_, name);
    return object ? &CONTAINER_OF(object, struct kept_claim, object)->shown : NULL;
}

const struct device_claim *devices_next_claim(const struct devices *devices,
                                              const struct device_claim *claim)
{
    const struct object *next = claim
                                    ? CONTAINER_OF(claim, struct kept_claim, shown)->object.hh.next
                                    : devices->objects[DEVICES_CLAIMS];
    return next ? &CONTAINER_OF(next, struct kept_claim, object)->shown : NULL;
}

uint64_t devices_claim_serial(const struct device_claim *claim)
{
    return CONTAINER_OF(claim, struct kept_claim, shown)->object.serial;
}

const struct device_claim *devices_claim_after(const struct devices *devices,
                                               const struct claim_place *place)
{
    const struct device_claim *claim =
        place->serial > 0 ? devices_find_claim(devices, place->namespace_, place->name) : NULL;
    if (!claim || devices_claim_serial(claim) != place->serial) /* it is gone, or comes again */
        claim = NULL;
    do
        claim = devices_next_claim(devices, claim);
    while (claim && devices_claim_serial(claim) <= place->serial);
    return claim;
}

/* Rules. */

void devices_upsert_taint(struct devices *devices, const struct device_taint_facts *facts)
{
    const size_t len = strlen(facts->name);
    struct object *old = find(devices, DEVICES_TAINTS, facts->name, len);
    if (old && taint_rules_equal(CONTAINER_OF(old, struct taint_rule, object), facts)) {
        old->seen = devices->relists[DEVICES_TAINTS];
        return;
    }
    struct taint_rule *rule = taint_rules_new(devices, facts);
    (void)taint_rules_apply(devices, rule, true);
    if (old)
        (void)remove_object(devices, DEVICES_TAINTS, old);
    put(devices, DEVICES_TAINTS, &rule->object, rule->name, len);
    devices_settle(devices);
}

void devices_delete_taint(struct devices *devices, const char *name)
{
    remove_and_settle(devices, DEVICES_TAINTS, find(devices, DEVICES_TAINTS, name, strlen(name)));
}

void devices_keep_taint(struct devices *devices, const char *name)
{
    struct object *object = find(devices, DEVICES_TAINTS, name, strlen(name));
    if (object)
        object->seen = devices->relists[DEVICES_TAINTS];
}

/* Replace all. */

void devices_relist_begin(struct devices *devices, enum devices_kind kind)
{
    devices->relists[kind]++;
    devices->swept_to[kind] = NULL; /* left by an interrupted list */
}

/* Upserts during the sweep mark objects as seen, so the sweep may or may not reach them. */
bool devices_relist_sweep(struct devices *devices, enum devices_kind kind, size_t work)
{
    if (!devices->swept_to[kind])
        devices->swept_to[kind] = devices->objects[kind];
    for (size_t done = 0; devices->swept_to[kind] && done < work; done++) {
        struct object *object = devices->swept_to[kind];
        devices->swept_to[kind] = object->hh.next;
        if (object->seen == devices->relists[kind])
            continue;
        done += remove_object(devices, kind, object) - 1;
    }
    devices_settle(devices);
    return !devices->swept_to[kind];
}

void devices_relist_end(struct devices *devices, enum devices_kind kind)
{
    (void)devices_relist_sweep(devices, kind, SIZE_MAX);
}

/* A copy. */

void devices_continue_relists(struct devices *copy, const struct devices *original)
{
    memcpy(copy->relists, original->relists, sizeof copy->relists);
}

const char *devices_continue_seen(struct devices *copy, const struct devices *original,
                                  enum devices_kind kind, const char *name)
{
    const size_t len = strlen(name);
    const struct object *object = find(original, kind, name, len);
    struct object *copied = find(copy, kind, name, len);
    if (copied)
        copied->seen = object->seen;
    return object->hh.key;
}

void devices_continue_seen_claim(struct devices *copy, const struct devices *original,
                                 const char *namespace_, const char *name)
{
    find_claim(copy, namespace_, name)->seen = find_claim(original, namespace_, name)->seen;
}

size_t devices_count(const struct devices *devices, enum devices_kind kind)
{
    return HASH_COUNT(devices->objects[kind]);
}

/* Changes, for the owner of the devices. */

const char *devices_take_changed(struct devices *devices)
{
    if (devices->taken)
        places_unref(devices, devices->taken);
    devices->taken = NULL;
    while (devices->queue) {
        struct device_place *place = devices->queue;
        devices->queue = place->next_queued;
        place->is_queued = false;
        if (places_publish(devices, place)) {
            devices->taken = place; /* with the reference of the queue */
            return place->name;
        }
        places_unref(devices, place);
    }
    return NULL;
}

const struct device_group *devices_on_node(const struct devices *devices, const char *node_name,
                                           size_t *ret_n)
{
    const struct device_place *place = NULL;
    HASH_FIND_STR(devices->places, node_name, place);
    *ret_n = place ? place->published.n_groups : 0;
    return *ret_n > 0 ? place->published.groups : NULL;
}

void devices_free(struct devices *devices)
{
    if (!devices)
        return;
    for (int kind = N_DEVICES_KINDS - 1; kind >= 0; kind--) {
        while (devices->objects[kind])
            (void)remove_object(devices, (enum devices_kind)kind, devices->objects[kind]);
    }
    devices_settle(devices);
    while (devices_take_changed(devices)) {
    }
    while (devices_take_changed_claim(devices)) {
    }
    free(devices);
}

/* Whether the published numbers are those of the devices. Computes the states of GPUs and
 * partitions, and the rows of nodes, where they are. */

struct numbers_check {
    size_t n_differences;
    struct err *err; /* set by the first difference */
};

static void differs(struct numbers_check *check, const char *node_name, const char *what)
{
    if (check->n_differences++ == 0)
        (void)err_set(check->err, EINVAL, "devices of node '%s': %s", node_name, what);
}

/* Checks the device, and adds what counts in the row to n. */
static void check_device(struct numbers_check *check, const struct device *device,
                         const struct device_row *row, int64_t *n)
{
    const struct gpu *gpu = device->gpu;
    if (device->state != gpus_state_of_device(device))
        differs(check, row->place->name, device->named->key.second);
    if (device->counted.row == row)
        n[device->counted.state]++;
    if (gpu->devices != device) /* each GPU once */
        return;
    if (gpu->counted.state != gpus_state(gpu) || gpu->counted.row->kind != gpus_kind(gpu))
        differs(check, row->place->name, device->named->key.second);
    if (gpu->counted.row == row)
        n[gpu->counted.state]++;
}

static size_t check_slice(struct numbers_check *check, const struct node_slice *node_slice,
                          const struct device_row *row, int64_t *n)
{
    for (size_t i = 0; i < node_slice->slice->n_devices; i++) {
        const struct device *device = &node_slice->slice->devices[i];
        if (device->node_pool == node_slice->node_pool && device->is_current)
            check_device(check, device, row, n);
    }
    return node_slice->slice->n_devices;
}

static size_t check_row(struct numbers_check *check, const struct device_row *row)
{
    int64_t n[N_DEVICE_STATES] = {0};
    const struct node_pool *node_pool = NULL;
    const struct node_slice *node_slice = NULL;
    size_t work = 1;
    DL_FOREACH2 (row->place->node_pools, node_pool, next_here) {
        DL_FOREACH (node_pool->node_slices, node_slice) {
            work += check_slice(check, node_slice, row, n);
        }
    }
    if (memcmp(n, row->n, sizeof n) != 0)
        differs(check, row->place->name, row->kind->name);
    return work;
}

/* The work of a device: with its attributes it takes a microsecond. */
#define DIGEST_WORK 4

static size_t check_place(struct numbers_check *check, struct devices *devices,
                          const struct device_place *place)
{
    const struct device_row *row = NULL;
    size_t work = 1;
    LL_FOREACH (place->rows, row) {
        work += check_row(check, row);
    }
    if (!places_is_published(devices, place))
        differs(check, place->name, "the published numbers are not those of the devices");
    if (!place->is_queued && place->alike != places_alike(place))
        differs(check, place->name, "the digest is not that of the devices");
    return work * DIGEST_WORK;
}

bool devices_check_some(struct devices *devices, size_t work, size_t *ret_n_differences,
                        struct err *err)
{
    struct numbers_check check = {0, err};
    struct device_place *place = devices->checked_to ? devices->checked_to : devices->places;
    for (size_t done = 0; place && done < work; place = place->hh.next)
        done += check_place(&check, devices, place);
    devices->checked_to = place;
    *ret_n_differences += check.n_differences;
    return !place;
}
