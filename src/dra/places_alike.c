/*
 * places_alike: which nodes have devices that the allocator cannot tell apart, but by names and
 * places within a node. Each node has a digest of its devices in the allocator's order, made anew
 * with each change there. Of neighbours that are equal, only the number in use counts.
 *
 * Texts are interned, so their addresses stand for them while the devices exist.
 */
#include "base/hash.h"
#include "base/mem.h"
#include "device_copy_priv.h"
#include "devices_priv.h"

#include <stdlib.h>
#include <string.h>

bool devices_is_place_within_node(const char *attribute)
{
    static const char *const NAMES[] = {
        "uuid",     "parentUUID", "pciBusID", "pciAddr",     "pciAddress", "parentPciAddr",
        "deviceID", "index",      "minor",    "cardIndex",   "pciRoot",    "parentDeviceID",
        "pcieRoot", "numaNode",   "serial",   "renderIndex", "cpuNode",    NULL};
    const char *slash = strrchr(attribute, '/');
    for (size_t i = 0; NAMES[i]; i++) {
        if (strcmp(slash ? slash + 1 : attribute, NAMES[i]) == 0)
            return true;
    }
    return false;
}

enum telling { TELLS_NOTHING, TELLS_BY_NAME, TELLS_BY_VALUE };

/* Where the last attributes of the device before are, the same ones are likely. */
#define N_ATTRIBUTES_KNOWN 16

/* The attributes that tell devices apart. */
struct view {
    const struct claims_reads *reads; /* NULL: each attribute that is no place within the node */
    size_t work;                      /* devices and attributes that are looked at */
    struct known_attribute {
        const char *name;
        char kind;
        enum telling telling;
    } known[N_ATTRIBUTES_KNOWN];
};

static enum telling telling_of(const struct claims_reads *reads,
                               const struct device_attribute *attribute)
{
    if (devices_is_place_within_node(attribute->name))
        return TELLS_NOTHING;
    return !reads || device_copy_tells(reads->items, reads->n, attribute) ? TELLS_BY_VALUE
                                                                          : TELLS_BY_NAME;
}

static enum telling tells(struct view *view, size_t i, const struct device_attribute *attribute)
{
    struct known_attribute *known = &view->known[i % N_ATTRIBUTES_KNOWN];
    if (known->name != attribute->name || known->kind != attribute->value[0])
        *known = (struct known_attribute){attribute->name, attribute->value[0],
                                          telling_of(view->reads, attribute)};
    return known->telling;
}

/* The digest of a place, and the run of equal devices at its end. */
struct digest {
    struct siphash hash;
    struct view *view;
    uint64_t device; /* of each of the run */
    uint64_t n, n_in_use;
};

static void add(struct siphash *hash, const void *data, size_t len)
{
    siphash_add(hash, data, len, HASH_ROUNDS);
}

static void add_pointer(struct siphash *hash, const void *pointer)
{
    add(hash, &pointer, sizeof pointer);
}

static void add_counters(struct siphash *hash, const struct set *set,
                         const struct counter_part *counters, size_t n)
{
    add_pointer(hash, set->key.second);
    for (size_t i = 0; i < n; i++) {
        add_pointer(hash, counters[i].name);
        add(hash, &counters[i].amount, sizeof counters[i].amount);
    }
}

static bool are_of_one_gpu(const struct device *a, const struct device *b)
{
    return a->physical == b->physical && a->physical[0];
}

/* Whether another device of the slice is of the same GPU. Sets the first one of it. */
static bool shares_gpu(const struct device *device, uint64_t *ret_first)
{
    const struct kept_slice *slice = device->slice;
    uint64_t n = 0;
    *ret_first = 0;
    for (size_t i = slice->n_devices; i-- > 0;) {
        if (!are_of_one_gpu(&slice->devices[i], device))
            continue;
        *ret_first = i;
        n++;
    }
    return n > 1;
}

static void add_attributes(struct siphash *hash, const struct device *device, struct view *view)
{
    view->work += 1 + device->n_attributes;
    for (size_t i = 0; i < device->n_attributes; i++) {
        const struct device_attribute *attribute = &device->attributes[i];
        const enum telling telling = tells(view, i, attribute);
        if (telling == TELLS_NOTHING)
            continue;
        add_pointer(hash, attribute->name);
        add_pointer(hash, telling == TELLS_BY_VALUE ? attribute->value : NULL);
    }
}

static uint64_t digest_of(const struct device *device, struct view *view)
{
    struct siphash hash = siphash_begin(hash_key(), false);
    const uint64_t flags[] = {device->allows_multiple, device->lacks_attributes,
                              device->not_judged};
    add(&hash, flags, sizeof flags);
    add_pointer(&hash, device->kind); /* the ranking tells GPUs of the nodes apart by it */
    add_pointer(&hash, device->details);
    add_attributes(&hash, device, view);
    for (size_t i = 0; i < device->n_consumptions; i++) {
        const struct consumption *consumption = &device->consumptions[i];
        add_counters(&hash, consumption->set, consumption->counters, consumption->n);
    }
    uint64_t first = 0;
    if (shares_gpu(device, &first) || device->n_consumptions > 0) {
        const uint64_t own[] = {first, device->named->n_uses > 0};
        add(&hash, own, sizeof own);
    }
    return siphash_end(&hash, HASH_ROUNDS, HASH_LAST_ROUNDS);
}

static void end_run(struct digest *digest)
{
    const uint64_t run[] = {digest->device, digest->n, digest->n_in_use};
    add(&digest->hash, run, sizeof run);
    digest->n = digest->n_in_use = 0;
}

/* Without counters, whose sets tell GPUs apart, too. */
static bool shares_gpu_with_other_slice(const struct device *device)
{
    const struct device *other = device->gpu->devices;
    while (other && other->slice == device->slice)
        other = other->next_of_gpu;
    return other && device->n_consumptions == 0;
}

static bool is_plain(const struct device *device)
{
    const struct device_use *use = NULL;
    DL_FOREACH (device->named->uses, use) {
        if (use->is_shared)
            return false;
    }
    return device->is_current && device->n_rules == 0 && !shares_gpu_with_other_slice(device);
}

static bool add_devices(const struct kept_slice *slice, struct digest *digest)
{
    for (size_t i = 0; i < slice->n_devices; i++) {
        const struct device *device = &slice->devices[i];
        if (!is_plain(device))
            return false;
        const uint64_t own = digest_of(device, digest->view);
        if (digest->n > 0 && own != digest->device)
            end_run(digest);
        digest->device = own;
        digest->n++;
        digest->n_in_use += device->named->n_uses > 0;
    }
    end_run(digest);
    return true;
}

static bool add_slice(const struct kept_slice *slice, struct digest *digest)
{
    if (slice->per_device || slice->is_unreadable)
        return false;
    add_pointer(&digest->hash, slice->pool->key.first);
    add_pointer(&digest->hash, slice->details);
    for (size_t i = 0; i < slice->n_publications; i++) {
        const struct publication *publication = &slice->publications[i];
        add_counters(&digest->hash, publication->set, publication->counters, publication->n);
    }
    return add_devices(slice, digest);
}

static int compare(const void *a, const void *b)
{
    const struct kept_slice *one = *(const struct kept_slice *const *)a;
    const struct kept_slice *other = *(const struct kept_slice *const *)b;
    int order = strcmp(one->pool->key.first, other->pool->key.first);
    if (order == 0)
        order = strcmp(one->pool->key.second, other->pool->key.second);
    return order != 0 ? order : strcmp(one->name, other->name);
}

/* All of one generation, and for no other node. */
static bool is_own(const struct node_pool *node_pool)
{
    const struct kept_slice *slice = NULL;
    DL_FOREACH (node_pool->pool->slices, slice) {
        if (slice->generation != node_pool->generation)
            return false;
    }
    return node_pool->state == NODE_POOL_USABLE && node_pool->has_generation &&
           node_pool->pool->node_pools == node_pool && !node_pool->next;
}

#define SLICES_MAX 64

/* Returns how many; SLICES_MAX: there are too many, or not only its own. */
static size_t slices_of(const struct device_place *place, const struct kept_slice **slices)
{
    const struct node_pool *node_pool = NULL;
    const struct kept_slice *slice = NULL;
    size_t n = 0;
    DL_FOREACH2 (place->node_pools, node_pool, next_here) {
        if (!node_pool->pool->driver)
            continue;
        if (!is_own(node_pool))
            return SLICES_MAX;
        DL_FOREACH (node_pool->pool->slices, slice) {
            if (n == SLICES_MAX)
                return n;
            slices[n++] = slice;
        }
    }
    return n;
}

static uint64_t alike_in(const struct device_place *place, struct view *view)
{
    const struct kept_slice *slices[SLICES_MAX];
    const size_t n = slices_of(place, slices);
    struct digest digest = {.hash = siphash_begin(hash_key(), false), .view = view};
    if (n == 0)
        return PLACES_ALIKE_EMPTY;
    if (n == SLICES_MAX || !place->name[0])
        return 0;
    if (n > 1)
        qsort(slices, n, sizeof(const struct kept_slice *), compare);
    for (size_t i = 0; i < n; i++) {
        if (!add_slice(slices[i], &digest))
            return 0;
    }
    const uint64_t alike = siphash_end(&digest.hash, HASH_ROUNDS, HASH_LAST_ROUNDS);
    return alike > PLACES_ALIKE_EMPTY ? alike : PLACES_ALIKE_EMPTY + 1;
}

uint64_t places_alike(const struct device_place *place)
{
    struct view view = {.reads = NULL};
    return alike_in(place, &view);
}

static const struct device_place *place_of(const struct devices *devices, const char *node_name)
{
    const struct device_place *place = NULL;
    HASH_FIND_STR(devices->places, node_name, place);
    return place;
}

static uint64_t number_of(const struct device_place *place)
{
    if (!place)
        return PLACES_ALIKE_EMPTY;
    return place->is_queued ? 0 : place->alike;
}

uint64_t devices_alike(const struct devices *devices, const char *node_name)
{
    return number_of(place_of(devices, node_name));
}

/* ---- many nodes ---- */

/* Devices and attributes that are looked at, in under a millisecond; as many as are read
 * to rank (inventory/claim_nodes.c). */
#define FIND_WORK_MAX ((size_t)30000)

struct alike_nodes {
    UT_hash_handle hh; /* by the number, which is a keyed hash already */
    uint64_t number;
    size_t first;
};

struct alike_search {
    struct view view;
    struct alike_nodes *seen;
    struct arena *arena;
};

static struct alike_nodes *find(const struct alike_search *search, uint64_t number)
{
    struct alike_nodes *alike = NULL;
    HASH_FIND_BYHASHVALUE(hh, search->seen, &number, sizeof number, (unsigned)number, alike);
    return alike;
}

static struct alike_nodes *add_first(struct alike_search *search, uint64_t number, size_t first)
{
    struct alike_nodes *alike = ARENA_NEW(search->arena, struct alike_nodes);
    *alike = (struct alike_nodes){.number = number, .first = first};
    HASH_ADD_BYHASHVALUE(hh, search->seen, number, sizeof number, (unsigned)number, alike);
    return alike;
}

/* Nodes whose numbers differ may be alike to claims that read little. */
static size_t first_of_new(struct alike_search *search, const struct device_place *place,
                           uint64_t number, size_t i)
{
    struct alike_nodes *alike = add_first(search, number, i);
    if (!place || search->view.work > FIND_WORK_MAX)
        return i;
    const uint64_t as_read = alike_in(place, &search->view);
    const struct alike_nodes *same = find(search, as_read);
    alike->first = same ? same->first : add_first(search, as_read, i)->first;
    return alike->first;
}

void devices_find_alike(const struct devices *devices, const char *const *names, size_t n,
                        const struct claims_reads *reads, size_t *ret_first)
{
    struct alike_search search = {.view = {.reads = reads}, .arena = arena_new()};
    for (size_t i = 0; i < n; i++) {
        const struct device_place *place = place_of(devices, names[i]);
        const uint64_t number = number_of(place);
        const struct alike_nodes *alike = find(&search, number);
        if (number == 0)
            ret_first[i] = i;
        else
            ret_first[i] = alike ? alike->first : first_of_new(&search, place, number, i);
    }
    HASH_CLEAR(hh, search.seen);
    arena_free(search.arena);
}
