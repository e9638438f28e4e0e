/* device_copy_facts: what selectors and constraints read of devices. Equal devices share it. */
#include "base/buf.h"
#include "device_copy_priv.h"
#include "types/quantity.h"

#include <stdlib.h>
#include <string.h>

static void add_read(struct claims_reads *reads, struct cel_read read, struct arena *arena)
{
    if (reads->n + 1 >= CLAIMS_READS_MAX) {
        reads->items[0] = (struct cel_read){.is_capacity = false};
        reads->items[1] = (struct cel_read){.is_capacity = true};
        return;
    }
    reads->items = arena_grow(arena, reads->items, reads->n, &reads->room, sizeof read);
    reads->items[reads->n++] = read;
}

void claims_reads_add(struct claims_reads *reads, const struct allocate_selectors *selectors,
                      struct arena *arena)
{
    for (size_t i = 0; i < selectors->n; i++) {
        const struct cel_program *program = selectors->programs[i];
        size_t n = 0;
        const struct cel_read *own =
            program && cel_verdict(program) == CEL_VALID ? cel_reads(program, &n) : NULL;
        for (size_t j = 0; j < n; j++)
            add_read(reads, own[j], arena);
    }
}

void claims_reads_add_claim(struct claims_reads *reads, const struct allocate_claim *claim,
                            struct arena *arena)
{
    for (size_t i = 0; i < claim->n_requests; i++) {
        for (size_t j = 0; j < claim->requests[i].n_wants; j++)
            claims_reads_add(reads, &claim->requests[i].wants[j].selectors, arena);
    }
    for (size_t i = 0; i < claim->n_constraints; i++) {
        const char *attribute = claim->constraints[i].attribute;
        const char *slash = attribute ? strchr(attribute, '/') : NULL;
        if (slash)
            add_read(reads,
                     (struct cel_read){
                         .domain = arena_strndup(arena, attribute, (size_t)(slash - attribute)),
                         .name = slash + 1},
                     arena);
    }
}

static bool is_domain(const char *domain, const char *name, const char *slash)
{
    return strncmp(domain, name, (size_t)(slash - name)) == 0 && !domain[slash - name];
}

/* Also if only its presence is read. */
static bool is_read(const struct cel_read *reads, size_t n,
                    const struct device_attribute *attribute)
{
    const char *slash = strchr(attribute->name, '/');
    for (size_t i = 0; slash && i < n; i++) {
        const struct cel_read *read = &reads[i];
        if (read->is_capacity == (attribute->value[0] == 'q') &&
            (!read->domain || is_domain(read->domain, attribute->name, slash)) &&
            (!read->name || !read->name[0] || strcmp(read->name, slash + 1) == 0))
            return true;
    }
    return false;
}

static bool is_capacity(const struct device_attribute *attribute)
{
    return attribute->value[0] == 'q';
}

static bool is_unsupported(const struct device_attribute *attribute)
{
    return attribute->value[0] == '?';
}

struct copied_details *device_copy_details_of(struct device_copy *copy, const char *text)
{
    struct copied_details *details = NULL;
    if (!text)
        return NULL;
    HASH_FIND_STR(copy->details, text, details);
    if (details)
        return details;
    details = ARENA_NEW(copy->arena, struct copied_details);
    details->details = copy->reader->read(text, copy->arena);
    const char *key = arena_strdup(copy->arena, text);
    HASH_ADD_KEYPTR(hh, copy->details, key, strlen(key), details);
    return details;
}

bool device_copy_tells(const struct cel_read *reads, size_t n,
                       const struct device_attribute *attribute)
{
    return is_unsupported(attribute) || is_capacity(attribute) || is_read(reads, n, attribute);
}

/* Whether its value tells groups apart. */
static bool is_whole(const struct device_copy *copy, const struct device_attribute *attribute)
{
    return device_copy_tells(copy->reads, copy->n_reads, attribute);
}

/* Capacities belong to the key, since requests ask for them. policies: NULL if there are none. */
static void add_key(const struct device_copy *copy, const char *driver,
                    const struct device_facts *facts, const struct copied_details *policies,
                    struct buf *key)
{
    const bool flags[] = {facts->allows_multiple, facts->lacks_attributes};
    buf_add(key, driver, strlen(driver) + 1);
    buf_add(key, (const char *)flags, sizeof flags);
    const uintptr_t id = (uintptr_t)policies;
    buf_add(key, (const char *)&id, sizeof id);
    for (size_t i = 0; i < facts->n_attributes; i++) {
        const struct device_attribute *attribute = &facts->attributes[i];
        buf_add(key, attribute->name, strlen(attribute->name) + 1);
        if (is_whole(copy, attribute))
            buf_add(key, attribute->value, strlen(attribute->value) + 1);
        else
            buf_add(key, "-", 2);
    }
}

static struct cel_fact fact_of(struct arena *arena, const struct device_attribute *attribute,
                               const char *value)
{
    const char *slash = strchr(attribute->name, '/');
    struct cel_fact fact = {
        .domain = arena_strndup(arena, attribute->name, (size_t)(slash - attribute->name)),
        .name = arena_strdup(arena, slash + 1),
        .kind = CEL_BOOL,
        .text = arena_strdup(arena, value + 1)};
    if (value[0] == 's')
        fact.kind = CEL_STRING;
    else if (value[0] == 'v')
        fact.kind = CEL_VERSION;
    else if (value[0] == 'q')
        fact.kind = CEL_QUANTITY;
    else if (value[0] == 'i')
        fact.kind = CEL_INT;
    fact.integer = fact.kind == CEL_INT ? strtoll(fact.text, NULL, 10) : 0;
    fact.boolean = strcmp(fact.text, "true") == 0;
    return fact;
}

static const struct device_policy *find_policy(const struct device_details *details,
                                               const char *name)
{
    for (size_t i = 0; i < details->n_policies; i++) {
        if (strcmp(details->policies[i].name, name) == 0)
            return &details->policies[i];
    }
    return NULL;
}

/* details tell the names that are written with the driver's domain. */
static void add_capacity(struct copied_group *group, struct arena *arena, const char *driver,
                         const struct device_attribute *attribute,
                         const struct device_details *details)
{
    const char *name = attribute->name;
    const char *slash = strchr(name, '/');
    const struct device_policy *policy = find_policy(details, name);
    struct allocate_capacity *capacity = &group->capacities[group->n_capacities++];
    struct err err;
    if (!policy && slash && is_domain(driver, name, slash)) {
        name = slash + 1;
        policy = find_policy(details, name);
    }
    capacity->name = arena_strdup(arena, name);
    capacity->policy = policy ? policy->policy : NULL;
    if (quantity_whole(attribute->value + 1, &capacity->value, &err) < 0)
        capacity->value = ALLOCATE_UNKNOWN;
}

static const char *fault_of(const struct device_facts *facts)
{
    if (facts->lacks_attributes)
        return "some of its attributes are not kept";
    for (size_t i = 0; i < facts->n_attributes; i++) {
        if (is_unsupported(&facts->attributes[i]))
            return "it has a list-typed attribute (feature DRAListTypeAttributes)";
        for (size_t j = 0; j < i; j++) {
            if (is_capacity(&facts->attributes[i]) == is_capacity(&facts->attributes[j]) &&
                strcmp(facts->attributes[i].name, facts->attributes[j].name) == 0)
                return "it has an attribute twice";
        }
    }
    return NULL;
}

static struct copied_group *new_group(const struct device_copy *copy, const char *driver,
                                      const struct device_facts *device,
                                      const struct copied_details *policies)
{
    static const struct device_details none;
    struct arena *arena = copy->arena;
    struct copied_group *group = ARENA_NEW(arena, struct copied_group);
    struct cel_fact *facts = ARENA_ARRAY(arena, struct cel_fact, device->n_attributes);
    group->capacities = ARENA_ARRAY(arena, struct allocate_capacity, device->n_attributes);
    group->not_judged = fault_of(device);
    group->facts = (struct cel_device){.driver = arena_strdup(arena, driver),
                                       .allows_multiple = device->allows_multiple,
                                       .facts = facts};
    for (size_t i = 0; i < device->n_attributes; i++) {
        const struct device_attribute *attribute = &device->attributes[i];
        const char *slash = strchr(attribute->name, '/');
        if (is_unsupported(attribute))
            group->facts.unsupported = arena_strdup(arena, slash ? slash + 1 : attribute->name);
        else if (is_read(copy->reads, copy->n_reads, attribute))
            facts[group->facts.n_facts++] = fact_of(arena, attribute, attribute->value);
        else
            facts[device->n_attributes - ++group->n_unread] =
                fact_of(arena, attribute, is_capacity(attribute) ? "q" : "s");
        if (is_capacity(attribute))
            add_capacity(group, arena, driver, attribute, policies ? &policies->details : &none);
    }
    group->unread = facts + device->n_attributes - group->n_unread;
    return group;
}

/* Whether nothing that is read tells it from the device before it in the slice, whose equal texts
 * are the same. */
static bool is_as_before(const struct device_copy *copy, const struct device_facts *facts,
                         const struct device_facts *before)
{
    if (facts->n_attributes != before->n_attributes || facts->details != before->details ||
        facts->allows_multiple != before->allows_multiple ||
        facts->lacks_attributes != before->lacks_attributes)
        return false;
    for (size_t i = 0; i < facts->n_attributes; i++) {
        const struct device_attribute *own = &facts->attributes[i];
        const struct device_attribute *other = &before->attributes[i];
        if (own->name != other->name)
            return false;
        if (own->value != other->value && (is_whole(copy, own) || is_whole(copy, other)))
            return false;
    }
    return true;
}

const struct copied_group *device_copy_facts_of(struct device_copy *copy, const char *driver,
                                                const struct device_facts *facts,
                                                const struct copied_details *details,
                                                const struct copied_group *before)
{
    const struct copied_details *policies =
        details && details->details.n_policies > 0 ? details : NULL;
    struct copied_group *group = NULL;
    struct buf key;
    if (before && is_as_before(copy, facts, facts - 1))
        return before;
    buf_init(&key, BUF_UNBOUNDED);
    add_key(copy, driver, facts, policies, &key);
    HASH_FIND(hh, copy->groups, key.data, key.len, group);
    if (!group) {
        group = new_group(copy, driver, facts, policies);
        const char *kept = arena_copy(copy->arena, key.data, key.len, 1);
        HASH_ADD_KEYPTR(hh, copy->groups, kept, key.len, group);
    }
    buf_fini(&key);
    return group;
}

void device_copy_facts_free(struct device_copy *copy)
{
    HASH_CLEAR(hh, copy->groups);
    HASH_CLEAR(hh, copy->details);
}

/* The taints of devices, with those of DeviceTaintRules. */

#define RULES_MAX ((size_t)10000)
/* Taints of all distinct combinations together. */
#define TAINTS_MAX ((size_t)1000000)
/* A rule names the driver or not, the pool or not, and the device or not. */
#define N_FORMS 8

struct copied_rule {
    UT_hash_handle hh; /* by its name */
    struct allocate_taint taint;
    struct copied_rule *next;
};

/* The rules of one form with the same driver, pool and device. */
struct copied_target {
    UT_hash_handle hh;
    struct copied_rule *rules;
    size_t n;
};

/* The taints of a device and of rules, as several devices have them. */
struct taint_set {
    UT_hash_handle hh;
    struct taint_set_key {
        const struct copied_details *details;
        const struct copied_target *targets[N_FORMS];
    } key;
    struct allocate_taint *taints;
    size_t n;
};

/* NULL: any. */
static void add_part(struct buf *key, const char *name)
{
    if (name)
        buf_add(key, name, strlen(name));
    buf_add(key, name ? "=" : "*", 2);
}

static void add_target_key(struct buf *key, const char *driver, const char *pool,
                           const char *device)
{
    buf_clear(key);
    add_part(key, driver);
    add_part(key, pool);
    add_part(key, device);
}

static struct copied_target *target_of(struct device_copy *copy,
                                       const struct device_taint_facts *rule)
{
    struct copied_target *target = NULL;
    struct buf key;
    buf_init(&key, BUF_UNBOUNDED);
    add_target_key(&key, rule->driver, rule->pool, rule->device);
    HASH_FIND(hh, copy->targets, key.data, key.len, target);
    if (!target) {
        const char *kept = arena_copy(copy->arena, key.data, key.len, 1);
        target = ARENA_NEW(copy->arena, struct copied_target);
        HASH_ADD_KEYPTR(hh, copy->targets, kept, key.len, target);
    }
    buf_fini(&key);
    return target;
}

static const char *text_of(struct arena *arena, const char *text)
{
    return text ? arena_strdup(arena, text) : "";
}

/* If a rule is replaced between two holds of the lock, its first version stays. */
void device_copy_add_rule(struct device_copy *copy, const struct device_taint_facts *rule)
{
    struct arena *arena = copy->arena;
    struct copied_rule *kept = NULL;
    HASH_FIND_STR(copy->rules, rule->name, kept);
    if (kept || copy->named.not_judged)
        return;
    if (HASH_COUNT(copy->rules) == RULES_MAX) {
        copy->named.not_judged = "there are too many DeviceTaintRules";
        return;
    }
    struct copied_target *target = target_of(copy, rule);
    kept = ARENA_NEW(arena, struct copied_rule);
    kept->taint =
        (struct allocate_taint){text_of(arena, rule->key), text_of(arena, rule->value),
                                rule->effect ? arena_strdup(arena, rule->effect) : "NoSchedule"};
    kept->next = target->rules;
    target->rules = kept;
    target->n++;
    const char *name = arena_strdup(arena, rule->name);
    HASH_ADD_KEYPTR(hh, copy->rules, name, strlen(name), kept);
}

/* The rules that select the device. */
static size_t find_targets(const struct device_copy *copy, const struct slice_facts *slice,
                           const char *device, struct taint_set_key *ret_key)
{
    size_t n = 0;
    struct buf key;
    buf_init(&key, BUF_UNBOUNDED);
    for (unsigned form = 0; copy->rules && form < N_FORMS; form++) {
        const struct copied_target *target = NULL;
        add_target_key(&key, form & 1 ? slice->driver : NULL, form & 2 ? slice->pool : NULL,
                       form & 4 ? device : NULL);
        HASH_FIND(hh, copy->targets, key.data, key.len, target);
        ret_key->targets[form] = target;
        n += target ? target->n : 0;
    }
    buf_fini(&key);
    return n;
}

static void fill(struct taint_set *set)
{
    const struct copied_details *details = set->key.details;
    for (size_t i = 0; details && i < details->details.n_taints; i++)
        set->taints[set->n++] = details->details.taints[i];
    for (size_t i = 0; i < N_FORMS; i++) {
        const struct copied_target *target = set->key.targets[i];
        const struct copied_rule *rule = target ? target->rules : NULL;
        for (; rule; rule = rule->next)
            set->taints[set->n++] = rule->taint;
    }
}

static const struct taint_set *taint_set_of(struct arena *arena, struct copied_drivers *drivers,
                                            const struct taint_set_key *key, size_t n)
{
    struct taint_set *set = NULL;
    HASH_FIND(hh, drivers->taint_sets, key, sizeof *key, set);
    if (set)
        return set;
    drivers->n_taints += n;
    if (drivers->n_taints > TAINTS_MAX) {
        drivers->not_judged = "there are too many taints";
        return NULL;
    }
    set = ARENA_NEW(arena, struct taint_set);
    set->key = *key;
    set->taints = ARENA_ARRAY(arena, struct allocate_taint, n);
    fill(set);
    HASH_ADD(hh, drivers->taint_sets, key, sizeof set->key, set);
    return set;
}

void device_copy_set_taints(struct device_copy *copy, struct copied_drivers *drivers,
                            const struct slice_facts *slice, const struct copied_details *details,
                            struct allocate_device *device)
{
    struct taint_set_key key = {.details = details};
    const size_t n = find_targets(copy, slice, device->name, &key);
    const size_t n_own = details ? details->details.n_taints : 0;
    if (n_own > 0) {
        device->taints = details->details.taints;
        device->n_taints = n_own;
    }
    const struct taint_set *set =
        n > 0 ? taint_set_of(copy->arena, drivers, &key, n_own + n) : NULL;
    if (set) {
        device->taints = set->taints;
        device->n_taints = set->n;
    }
}

void device_copy_taints_free(struct device_copy *copy)
{
    HASH_CLEAR(hh, copy->rules);
    HASH_CLEAR(hh, copy->targets);
    HASH_CLEAR(hh, copy->named.taint_sets);
    HASH_CLEAR(hh, copy->others.taint_sets);
}
