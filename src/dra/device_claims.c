/* device_claims: what the ledger keeps of a ResourceClaim, and the devices that it uses. */
#include "base/mem.h"
#include "devices_priv.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of the UIDs of the pods that use a claim; the rest are only counted. The same for names. */
#define HOLDERS_BYTES_MAX 1024

static size_t size_of(const char *text)
{
    return strlen(text) + 1;
}

static char *append(char **at, const char *text)
{
    char *copy = memcpy(*at, text, size_of(text));
    *at += size_of(text);
    return copy;
}

char *device_claims_key(const char *namespace_, const char *name, size_t *ret_len)
{
    char *key = mem_new(size_of(namespace_) + size_of(name));
    char *at = key;
    (void)append(&at, namespace_);
    (void)append(&at, name);
    *ret_len = size_of(namespace_) + strlen(name);
    return key;
}

static size_t size_of_holders(const struct claim_facts *facts, size_t *ret_n)
{
    size_t size = 0;
    size_t n = 0;
    while (n < facts->n_holders && size + size_of(facts->holders[n]) <= HOLDERS_BYTES_MAX)
        size += size_of(facts->holders[n++]);
    *ret_n = n;
    return size;
}

/* "" for those without room. */
static const char *holder_name(const struct claim_facts *facts, size_t i, size_t *room)
{
    const char *name = facts->holder_names ? facts->holder_names[i] : "";
    if (size_of(name) > *room)
        return "";
    *room -= size_of(name);
    return name;
}

static size_t size_of_names(const struct claim_facts *facts, size_t n_holders)
{
    size_t room = HOLDERS_BYTES_MAX;
    size_t size = 0;
    for (size_t i = 0; i < n_holders; i++)
        size += size_of(holder_name(facts, i, &room));
    return size;
}

static size_t size_of_wants(const struct claim_facts *facts)
{
    size_t size = 0;
    for (size_t i = 0; i < facts->n_wants; i++)
        size += size_of(facts->wants[i].class_name) + size_of(facts->wants[i].driver);
    return size;
}

static void copy_wants(struct kept_claim *claim, const struct claim_facts *facts, char *at)
{
    struct claim_want *wants = MEM_ARRAY(struct claim_want, facts->n_wants);
    for (size_t i = 0; i < facts->n_wants; i++) {
        wants[i].class_name = append(&at, facts->wants[i].class_name);
        wants[i].driver = append(&at, facts->wants[i].driver);
        wants[i].n_devices = facts->wants[i].n_devices;
    }
    claim->shown.wants = claim->wants = wants;
    claim->shown.n_wants = facts->n_wants;
}

static const char *owner_of(const struct claim_facts *facts)
{
    return facts->owner_uid ? facts->owner_uid : "";
}

static void copy_texts(struct kept_claim *claim, const struct claim_facts *facts)
{
    char *at = claim->texts;
    struct device_claim *shown = &claim->shown;
    shown->namespace_ = append(&at, facts->namespace_); /* with the name, its key */
    shown->name = append(&at, facts->name);
    shown->uid = append(&at, facts->uid);
    shown->extended_for_uid = append(&at, facts->extended_for_uid);
    shown->owner_uid = append(&at, owner_of(facts));
    claim->holders = at;
    for (size_t i = 0; i < shown->n_holders; i++)
        (void)append(&at, facts->holders[i]);
    size_t room = HOLDERS_BYTES_MAX;
    for (size_t i = 0; i < shown->n_holders; i++)
        (void)append(&at, holder_name(facts, i, &room));
    copy_wants(claim, facts, at);
}

/* Interns the text, as many claims share it; NULL: it exceeds the maximum. */
static const char *keep(struct devices *devices, const char *text, size_t bytes_max, size_t *bytes)
{
    if (!text || strlen(text) > bytes_max - *bytes)
        return NULL;
    *bytes += strlen(text);
    return string_table_intern(&devices->strings, text);
}

static void drop(struct devices *devices, const char **text, size_t *bytes)
{
    if (!*text)
        return;
    *bytes -= strlen(*text);
    string_table_unref(&devices->strings, *text);
    *text = NULL;
}

static void keep_texts(struct devices *devices, const struct claim_facts *facts,
                       struct device_claim *shown)
{
    size_t *bytes = &devices->claim_text_bytes;
    shown->spec = keep(devices, facts->spec, CLAIM_TEXTS_BYTES_MAX, bytes);
    shown->nodes = keep(devices, facts->nodes, CLAIM_TEXTS_BYTES_MAX, bytes);
    shown->labels =
        keep(devices, facts->labels, CLAIM_LABELS_BYTES_MAX, &devices->claim_label_bytes);
}

static void drop_texts(struct devices *devices, struct device_claim *shown)
{
    drop(devices, &shown->spec, &devices->claim_text_bytes);
    drop(devices, &shown->nodes, &devices->claim_text_bytes);
    drop(devices, &shown->labels, &devices->claim_label_bytes);
}

struct kept_claim *device_claims_new(struct devices *devices, const struct claim_facts *facts)
{
    size_t n_holders = 0;
    const size_t holders_size = size_of_holders(facts, &n_holders);
    const size_t size = size_of(facts->namespace_) + size_of(facts->name) + size_of(facts->uid) +
                        size_of(facts->extended_for_uid) + size_of(owner_of(facts)) + holders_size +
                        size_of_names(facts, n_holders) + size_of_wants(facts);
    struct kept_claim *claim = mem_new(sizeof *claim + size);
    claim->shown = (struct device_claim){.n_devices = facts->n_devices,
                                         .wants_all = facts->wants_all,
                                         .has_alternatives = facts->has_alternatives,
                                         .is_allocated = facts->is_allocated,
                                         .terminating = facts->terminating,
                                         .is_unready = facts->is_unready,
                                         .n_holders = n_holders,
                                         .n_all_holders = facts->n_all_holders,
                                         .n_results = facts->is_allocated ? facts->n_results : 0};
    copy_texts(claim, facts);
    keep_texts(devices, facts, &claim->shown);
    claim->uses = MEM_ARRAY(struct device_use, claim->shown.n_results);
    for (size_t i = 0; i < claim->shown.n_results; i++) {
        const struct claim_result *result = &facts->results[i];
        struct pool *pool = pools_ref(devices, result->driver, result->pool);
        claim->uses[i].named = pools_ref_name(devices, pool, result->device);
        claim->uses[i].claim = claim;
        claim->uses[i].is_admin = result->is_admin;
        claim->uses[i].is_shared = result->is_shared;
        claim->uses[i].consumed =
            result->consumed ? string_table_intern(&devices->strings, result->consumed) : NULL;
        claim->n_gpu_uses += pool->driver && !result->is_admin;
        pools_unref(devices, pool);
    }
    return claim;
}

void device_claims_mark(struct devices *devices, struct kept_claim *claim)
{
    if (claim->is_changed)
        return;
    claim->is_changed = true;
    DL_APPEND2(devices->changed_claims, claim, prev_changed, next_changed);
}

void device_claims_mark_users(struct devices *devices, const struct device_name *named)
{
    for (struct device_use *use = named->uses; use; use = use->next)
        device_claims_mark(devices, use->claim);
}

const struct device_claim *devices_take_changed_claim(struct devices *devices)
{
    free(devices->taken_claim);
    devices->taken_claim = NULL;
    struct kept_claim *claim = devices->changed_claims;
    if (!claim)
        return NULL;
    claim->is_changed = false;
    DL_DELETE2(devices->changed_claims, claim, prev_changed, next_changed);
    if (claim->is_gone)
        devices->taken_claim = claim;
    return &claim->shown;
}

/* Whether a device is in use changed. */
static void refresh(struct devices *devices, const struct device_name *named)
{
    struct device *device = NULL;
    DL_FOREACH2 (named->devices, device, next_same) {
        gpus_refresh(devices, device);
        for (size_t i = 0; i < device->n_consumptions; i++)
            counters_mark(devices, device->consumptions[i].set);
    }
}

/* Whether it is shared may have changed. */
static void queue_alike(struct devices *devices, const struct device_name *named)
{
    const struct device *device = NULL;
    DL_FOREACH2 (named->devices, device, next_same) {
        places_queue(devices, device->node_pool->place);
    }
}

void device_claims_use(struct devices *devices, struct kept_claim *claim, bool is_used)
{
    devices->n_claims[devices_claim_state(&claim->shown)] += is_used ? 1 : SIZE_MAX;
    for (size_t i = 0; i < claim->shown.n_results; i++) {
        struct device_name *named = claim->uses[i].named;
        if (claim->uses[i].is_admin)
            continue;
        const bool was_used = named->n_uses > 0;
        named->n_uses += is_used ? 1 : SIZE_MAX;
        if (claim->uses[i].is_shared)
            devices->n_shared_uses += is_used ? 1 : SIZE_MAX;
        if (is_used)
            DL_APPEND(named->uses, &claim->uses[i]);
        else
            DL_DELETE(named->uses, &claim->uses[i]);
        if (was_used != (named->n_uses > 0))
            refresh(devices, named);
        queue_alike(devices, named);
    }
}

void device_claims_remove(struct devices *devices, struct kept_claim *claim)
{
    for (size_t i = 0; i < claim->shown.n_results; i++) {
        pools_unref_name(devices, claim->uses[i].named);
        if (claim->uses[i].consumed)
            string_table_unref(&devices->strings, claim->uses[i].consumed);
    }
    drop_texts(devices, &claim->shown);
    free(claim->uses);
    free(claim->wants);
    claim->uses = NULL;
    claim->shown.wants = claim->wants = NULL;
    claim->shown.n_wants = 0;
    claim->shown.n_results = 0;
    claim->is_gone = true;
    device_claims_mark(devices, claim);
}

enum claim_state devices_claim_state(const struct device_claim *claim)
{
    const struct kept_claim *whole = CONTAINER_OF(claim, struct kept_claim, shown);
    if (!claim->is_allocated)
        return CLAIM_UNALLOCATED;
    if (whole->n_gpu_uses == 0)
        return CLAIM_WITHOUT_GPUS;
    return claim->n_all_holders > 0 ? CLAIM_USED : CLAIM_UNUSED;
}

size_t devices_count_claims(const struct devices *devices, enum claim_state state)
{
    return devices->n_claims[state];
}

bool devices_next_holder(const struct device_claim *claim, struct device_holder *holder)
{
    const struct kept_claim *whole = CONTAINER_OF(claim, struct kept_claim, shown);
    if (holder->uid) {
        holder->uid += size_of(holder->uid);
        holder->name += size_of(holder->name);
        holder->n_before++;
    } else {
        holder->uid = holder->name = whole->holders;
        for (size_t i = 0; i < claim->n_holders; i++)
            holder->name += size_of(holder->name);
    }
    return holder->n_before < claim->n_holders;
}

/* Its device; of several, on several nodes, none says where. */
static void describe(struct claimed_device *claimed, const struct device_name *named)
{
    const struct device *device = named->devices;
    if (!device)
        return;
    claimed->node_name = device->next_same ? "" : device->node_pool->place->name;
    claimed->model_name = device->kind->name;
    claimed->model = &device->kind->model;
    claimed->memory_bytes = device->kind->key.memory_bytes;
    claimed->is_partition = gpus_is_partition(device);
}

struct claimed_device devices_of_claim(const struct device_claim *claim, size_t i)
{
    const struct device_use *use = &CONTAINER_OF(claim, struct kept_claim, shown)->uses[i];
    const struct device_name *named = use->named;
    struct claimed_device claimed = {.driver = named->pool->key.first,
                                     .pool = named->pool->key.second,
                                     .device = named->key.second,
                                     .is_admin = use->is_admin,
                                     .is_shared = use->is_shared,
                                     .consumed = use->consumed,
                                     .is_gpu = named->pool->driver != NULL};
    describe(&claimed, named);
    return claimed;
}
