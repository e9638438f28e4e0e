/*
 * prop_device_copy: random events (slices, claims, taint rules, classes), and pods that are placed,
 * read by dra/ from the ledger and beside it by tests/allocate/question.c from the objects
 * themselves. Both must show each node the same devices and give the allocator the same answer, and
 * a count of devices must be that of a loop over them.
 *
 * LEDGER_EVENTS: number of events, times EVENT_PRICE. LEDGER_SEED: seed of the dice.
 */
#include "base/mem.h"
#include "dice.h"
#include "dra/claims_count.h"
#include "dra/device_copy.h"
#include "ledger/cluster.h"
#include "objects/claims.h"
#include "objects/device_details.h"
#include "question.h"
#include "random_objects.h"
#include "shown_text.h"
#include "unit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* An event takes so many times the time of one of prop_devices. */
#define EVENT_PRICE 100
#define DEFAULT_EVENTS 1000000
#define DEFAULT_SEED 20171115
#define EVENTS_OF_A_LIFE 400
#define EVENTS_OF_A_COMPARISON 4

#define SLICES 10
#define CLAIMS 5
#define RULES 3
#define PLACED_MAX 4
#define GIVEN_MAX 2
/* Searches that take longer are not compared. */
#define STEPS_MAX 20000

struct objects {
    json_t *slices[SLICES];
    json_t *claims[CLAIMS];
    json_t *rules[RULES];
    json_t *classes[OBJECTS_CLASSES];
};

struct life {
    struct dice *dice;
    struct policy policy;
    struct cluster *cluster;
    struct objects objects; /* NULL: not there */
    uint64_t n_events;
};

static const char *name_of(const json_t *object)
{
    return json_string_value(json_object_get(json_object_get(object, "metadata"), "name"));
}

static void replace(json_t **place, json_t *object)
{
    json_decref(*place);
    *place = object;
}

/* ---- events ---- */

static struct slice_facts slice_facts_of(const struct life *life, const json_t *object,
                                         struct arena *arena)
{
    struct slice_facts facts = {0};
    struct err err = {""};
    if (resource_slice_from_json(object, &life->policy, arena, &facts, &err) < 0)
        fail_msg("%s", err.text);
    return facts;
}

static struct device_taint_facts rule_facts_of(const json_t *object, struct arena *arena,
                                               bool *ret_taints)
{
    struct device_taint_facts facts = {0};
    struct err err = {""};
    if (device_taint_rule_from_json(object, arena, &facts, ret_taints, &err) < 0)
        fail_msg("%s", err.text);
    return facts;
}

/* Takes over the object; NULL: it goes. */
static void put_slice(struct life *life, size_t i, json_t *object)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const char *name = arena_printf(arena, "slice-%zu", i);
    if (object) {
        const struct slice_facts facts = slice_facts_of(life, object, arena);
        cluster_upsert_slice(life->cluster, &facts);
    } else {
        cluster_delete_slice(life->cluster, name);
    }
    replace(&life->objects.slices[i], object);
}

static void put_claim(struct life *life, size_t i, json_t *object)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const char *name = arena_printf(arena, "claim-%zu", i);
    struct claim_facts facts;
    struct err err = {""};
    if (!object)
        cluster_delete_resource_claim(life->cluster, "ml", name);
    else if (resource_claim_from_json(object, arena, &facts, &err) < 0)
        fail_msg("%s", err.text);
    else
        cluster_upsert_resource_claim(life->cluster, &facts);
    replace(&life->objects.claims[i], object);
}

static void put_rule(struct life *life, size_t i, json_t *object)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const char *name = arena_printf(arena, "rule-%zu", i);
    bool taints = false;
    struct device_taint_facts facts = {0};
    if (object)
        facts = rule_facts_of(object, arena, &taints);
    if (taints)
        cluster_upsert_device_taint(life->cluster, &facts);
    else
        cluster_delete_device_taint(life->cluster, name);
    replace(&life->objects.rules[i], object);
}

static void put_class(struct life *life, size_t i, json_t *object)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct device_class_facts facts = {name_of(object),
                                             .selectors = device_class_selectors(object, arena)};
    cluster_upsert_device_class(life->cluster, &facts);
    replace(&life->objects.classes[i], object);
}

static void change_slice(struct life *life)
{
    const size_t i = dice_below(life->dice, SLICES);
    put_slice(life, i, dice_one_in(life->dice, 5) ? NULL : random_slice(life->dice, i));
}

static bool are_mates(const json_t *a, const json_t *b)
{
    const json_t *one = json_object_get(a, "spec");
    const json_t *other = json_object_get(b, "spec");
    return json_equal(json_object_get(one, "driver"), json_object_get(other, "driver")) &&
           json_equal(json_object_get(json_object_get(one, "pool"), "name"),
                      json_object_get(json_object_get(other, "pool"), "name"));
}

static void complete_pool(struct life *life)
{
    const json_t *of = life->objects.slices[dice_below(life->dice, SLICES)];
    json_t *mates[SLICES];
    size_t places[SLICES];
    size_t n = 0;
    for (size_t i = 0; of && i < SLICES; i++) {
        json_t *slice = life->objects.slices[i];
        if (!slice || !are_mates(of, slice))
            continue;
        mates[n] = json_deep_copy(slice);
        places[n++] = i;
    }
    repair_pool(life->dice, mates, n);
    for (size_t i = 0; i < n; i++)
        put_slice(life, places[i], mates[i]);
}

static void change_claim(struct life *life)
{
    const size_t i = dice_below(life->dice, CLAIMS);
    put_claim(life, i, dice_one_in(life->dice, 3) ? NULL : random_claim(life->dice, i));
}

static void change_rule(struct life *life)
{
    const size_t i = dice_below(life->dice, RULES);
    put_rule(life, i, dice_one_in(life->dice, 2) ? NULL : random_rule(life->dice, i));
}

static void change_class(struct life *life)
{
    const size_t i = dice_below(life->dice, OBJECTS_CLASSES);
    put_class(life, i, random_class(life->dice, i));
}

typedef void event_function(struct life *life);

static void any_event(struct life *life)
{
    static event_function *const EVENTS[] = {change_slice,  change_slice,  change_slice,
                                             complete_pool, complete_pool, change_claim,
                                             change_claim,  change_rule,   change_class};
    EVENTS[dice_below(life->dice, sizeof EVENTS / sizeof *EVENTS)](life);
    life->n_events++;
}

/* ---- the model: all objects, read anew for each node ---- */

/* What both sides are asked. */
struct comparison {
    struct life *life;
    struct arena *arena;
    json_t *kept;   /* what questions borrow */
    json_t *slices; /* with the taints of rules */
    json_t *asked;
    json_t *others; /* allocated claims; at last, those of placed pods */
    struct device_copy *copy;
    bool has_others; /* slices of a driver that the policy does not name count */
    struct node_answer {
        struct allocate_question asked;
        struct allocate_answer answer;
        const char *text; /* NULL: not judged */
    } nodes[OBJECTS_NODES];
};

static bool has_part(const json_t *selects, const char *key, const char *value)
{
    const char *wanted = json_string_value(json_object_get(selects, key));
    return !wanted || strcmp(wanted, value) == 0;
}

static const char *member(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static void taint(json_t *slice, const json_t *rule)
{
    const json_t *spec = json_object_get(slice, "spec");
    const json_t *selects = json_object_get(json_object_get(rule, "spec"), "deviceSelector");
    json_t *added = json_object_get(json_object_get(rule, "spec"), "taint");
    size_t i = 0;
    json_t *device = NULL;
    json_array_foreach (json_object_get(spec, "devices"), i, device) {
        if (!selects || !has_part(selects, "driver", member(spec, "driver")) ||
            !has_part(selects, "pool", member(json_object_get(spec, "pool"), "name")) ||
            !has_part(selects, "device", member(device, "name")))
            continue;
        if (!json_object_get(device, "taints"))
            (void)json_object_set_new(device, "taints", json_array());
        (void)json_array_append(json_object_get(device, "taints"), added);
    }
}

static json_t *array_of(json_t *const *objects, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++) {
        if (objects[i])
            (void)json_array_append_new(array, json_deep_copy(objects[i]));
    }
    return array;
}

static bool is_of_other(const struct life *life, const json_t *slice)
{
    return !policy_device_driver(&life->policy, member(json_object_get(slice, "spec"), "driver"));
}

static json_t *tainted_slices(const struct comparison *comparison, const struct objects *objects)
{
    json_t *slices = array_of(objects->slices, SLICES);
    for (size_t i = json_array_size(slices); i-- > 0;) {
        json_t *slice = json_array_get(slices, i);
        for (size_t r = 0; r < RULES; r++)
            taint(slice, objects->rules[r]);
        if (!comparison->has_others && is_of_other(comparison->life, slice))
            (void)json_array_remove(slices, i);
    }
    return slices;
}

/* All slices are asked, whether they concern the node or not. */
static struct allocate_question model_of(const struct comparison *comparison, size_t node)
{
    json_t *classes = array_of(comparison->life->objects.classes, OBJECTS_CLASSES);
    json_t *json = json_pack("{s:o, s:O, s:o, s:O, s:o, s:i}", "node", object_node(node), "slices",
                             comparison->slices, "classes", classes, "claims", comparison->asked,
                             "others", json_copy(comparison->others), "maxSteps", STEPS_MAX);
    (void)json_array_append_new(comparison->kept, json);
    return question_from_json(json, comparison->arena);
}

/* ---- the copy of the ledger ---- */

struct reads {
    struct cel_read *items;
    size_t n, room;
};

static void add_read(struct reads *reads, struct cel_read read, struct arena *arena)
{
    reads->items = arena_grow(arena, reads->items, reads->n, &reads->room, sizeof *reads->items);
    reads->items[reads->n++] = read;
}

static void add_programs(struct reads *reads, const struct allocate_selectors *selectors,
                         struct arena *arena)
{
    for (size_t i = 0; i < selectors->n; i++) {
        size_t n = 0;
        const struct cel_read *of = cel_reads(selectors->programs[i], &n);
        for (size_t j = 0; j < n; j++)
            add_read(reads, of[j], arena);
    }
}

static void add_reads_of_claim(struct reads *reads, const struct allocate_claim *claim,
                               struct arena *arena)
{
    for (size_t i = 0; i < claim->n_requests; i++) {
        for (size_t j = 0; j < claim->requests[i].n_wants; j++) {
            const struct allocate_want *want = &claim->requests[i].wants[j];
            add_programs(reads, &want->selectors, arena);
            add_programs(reads, &want->device_class->selectors, arena);
        }
    }
    for (size_t i = 0; i < claim->n_constraints; i++) {
        const char *attribute = claim->constraints[i].attribute;
        const char *slash = strchr(attribute, '/');
        const char *domain = arena_strndup(arena, attribute, (size_t)(slash - attribute));
        add_read(reads, (struct cel_read){false, domain, slash + 1}, arena);
    }
}

/* Slices and rules of a manifest, which hide the ledger's of their names. */
static void give_some(const struct comparison *comparison, struct objects *seen)
{
    const struct life *life = comparison->life;
    struct given_devices *given = ARENA_NEW(comparison->arena, struct given_devices);
    const unsigned first = dice_below(life->dice, SLICES);
    bool taints = false;
    given->slices = ARENA_ARRAY(comparison->arena, struct slice_facts, GIVEN_MAX);
    given->rules = ARENA_NEW(comparison->arena, struct device_taint_facts);
    given->n_slices = dice_below(life->dice, GIVEN_MAX + 1);
    for (size_t n = 0; n < given->n_slices; n++) {
        const size_t i = (first + n) % SLICES;
        seen->slices[i] = random_slice(life->dice, i);
        (void)json_array_append_new(comparison->kept, seen->slices[i]);
        given->slices[n] = slice_facts_of(life, seen->slices[i], comparison->arena);
    }
    seen->rules[0] = random_rule(life->dice, 0);
    (void)json_array_append_new(comparison->kept, seen->rules[0]);
    given->rules[given->n_rules++] = rule_facts_of(seen->rules[0], comparison->arena, &taints);
    if (!taints)
        given->rules[0].effect = "None";
    device_copy_give(comparison->copy, given);
}

/* Slices are read last: one that changes before is read as it is then. */
static void read_all(const struct comparison *comparison)
{
    const bool changes = dice_one_in(comparison->life->dice, 3);
    for (bool is_done = false; !is_done;) {
        device_copy_read_some(comparison->copy, cluster_devices(comparison->life->cluster),
                              cluster_knows(comparison->life->cluster, CLUSTER_CLAIMS));
        is_done = device_copy_end_step(comparison->copy);
        if (!is_done && changes)
            change_slice(comparison->life);
    }
}

static void read_copy(struct comparison *comparison)
{
    const struct life *life = comparison->life;
    const struct allocate_question asked = model_of(comparison, 0);
    struct objects given = {0};
    struct reads reads = {0};
    for (size_t i = 0; i < asked.n_claims; i++)
        add_reads_of_claim(&reads, &asked.claims[i], comparison->arena);
    comparison->copy =
        device_copy_new(reads.items, reads.n, &DEVICE_DETAILS_READER, comparison->arena);
    comparison->has_others = dice_one_in(life->dice, 2);
    device_copy_name_drivers(comparison->copy, &life->policy, comparison->has_others);
    if (dice_one_in(life->dice, 4))
        give_some(comparison, &given);
    read_all(comparison);
    struct objects seen = life->objects;
    for (size_t i = 0; i < SLICES; i++)
        seen.slices[i] = given.slices[i] ? given.slices[i] : seen.slices[i];
    seen.rules[0] = given.rules[0] ? given.rules[0] : seen.rules[0];
    json_decref(comparison->slices);
    comparison->slices = tainted_slices(comparison, &seen);
}

/* ---- a node ---- */

static const struct allocate_slice *find(const struct allocate_slice *slices, size_t n,
                                         const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(slices[i].name, name) == 0)
            return &slices[i];
    }
    return NULL;
}

static bool is_unknown(const struct comparison *comparison, const char *name)
{
    size_t i = 0, d = 0;
    json_t *slice = NULL, *device = NULL;
    json_array_foreach (comparison->slices, i, slice) {
        json_array_foreach (json_object_get(json_object_get(slice, "spec"), "devices"), d, device) {
            if (json_object_get(device, "invented") && strcmp(name_of(slice), name) == 0)
                return true;
        }
    }
    return false;
}

/* Whether a slice of the same pool, or a device of one, reaches the node. */
static bool is_of_node(const struct allocate_question *model, const struct allocate_slice *slice)
{
    for (size_t i = 0; i < model->n_slices; i++) {
        const struct allocate_slice *mate = &model->slices[i];
        bool reaches_node = !mate->devices_reach && mate->reaches_node;
        for (size_t d = 0; mate->devices_reach && d < mate->n_devices; d++)
            reaches_node |= mate->devices_reach[d];
        if (reaches_node && mate->n_shared_counters == 0 &&
            strcmp(mate->driver, slice->driver) == 0 && strcmp(mate->pool, slice->pool) == 0)
            return true;
    }
    return false;
}

static void compare_slices(const struct comparison *comparison,
                           const struct allocate_question *model,
                           const struct device_copy_slices *shown)
{
    bool must_be_unknown = false;
    bool may_be_unknown = false;
    for (size_t i = 0; i < model->n_slices; i++) {
        const struct allocate_slice *slice = &model->slices[i];
        const struct allocate_slice *other = find(shown->slices, shown->n, slice->name);
        if (is_of_node(model, slice) && !other)
            fail_msg("event %" PRIu64 ": %s is missing", comparison->life->n_events, slice->name);
        may_be_unknown |= other && is_unknown(comparison, slice->name);
        must_be_unknown |= is_of_node(model, slice) && is_unknown(comparison, slice->name);
    }
    for (size_t i = 0; i < shown->n; i++) {
        const struct allocate_slice *slice =
            find(model->slices, model->n_slices, shown->slices[i].name);
        if (!slice)
            fail_msg("event %" PRIu64 ": %s is gone", comparison->life->n_events,
                     shown->slices[i].name);
        assert_string_equal(slice_text(comparison->arena, &shown->slices[i]),
                            slice_text(comparison->arena, slice));
    }
    assert_true(!must_be_unknown || shown->not_judged);
    assert_true(!shown->not_judged || may_be_unknown);
}

/* Those that the question is about. */
static struct device_copy_slices shown_on(const struct comparison *comparison,
                                          const struct label_view *node)
{
    struct device_copy_slices shown =
        device_copy_on_node(comparison->copy, node, comparison->arena);
    if (!comparison->has_others)
        return shown;
    shown.n = shown.n_with_others;
    if (!shown.not_judged)
        shown.not_judged = shown.others_not_judged;
    return shown;
}

static void compare_node(struct comparison *comparison, size_t number)
{
    static const char *const NAMES[OBJECTS_NODES] = {"node-0", "node-1", "node-2"};
    struct arena *arena = comparison->arena;
    struct node_answer *node = &comparison->nodes[number];
    const struct label labels[] = {{"kubernetes.io/hostname", NAMES[number]},
                                   {"zone", number == 0 ? "z1" : "z2"}};
    const struct label_view view = {
        .node_name = NAMES[number], .labels = labels, .n_labels = number < 2 ? 2 : 1};
    const struct allocate_question model = model_of(comparison, number);
    const struct device_copy_slices shown = shown_on(comparison, &view);
    compare_slices(comparison, &model, &shown);
    *node = (struct node_answer){.asked = model};
    node->asked.slices = shown.slices;
    node->asked.n_slices = shown.n;
    if (shown.not_judged)
        return;
    const struct allocate_answer wanted = allocate_on_node(&model, arena);
    node->answer = allocate_on_node(&node->asked, arena);
    node->text = answer_text(arena, &node->asked, &node->answer);
    const char *text = answer_text(arena, &model, &wanted);
    if (!text || !node->text)
        node->text = NULL;
    else if (strcmp(text, node->text) != 0)
        fail_msg("event %" PRIu64 ", %s: should be: %s\nis: %s", comparison->life->n_events,
                 NAMES[number], text, node->text);
}

/* ---- counts ---- */

static bool passes(const struct allocate_selectors *selectors, const struct cel_device *device,
                   struct arena *arena, size_t *n_errors)
{
    for (size_t i = 0; i < selectors->n; i++) {
        const struct cel_answer answer = cel_evaluate(selectors->programs[i], device, arena);
        *n_errors += answer.verdict == CEL_INVALID;
        if (answer.verdict != CEL_VALID || !answer.value)
            return false;
    }
    return true;
}

static bool is_newest(const struct allocate_question *model, const struct allocate_slice *slice)
{
    for (size_t i = 0; i < model->n_slices; i++) {
        const struct allocate_slice *mate = &model->slices[i];
        if (strcmp(mate->driver, slice->driver) == 0 && strcmp(mate->pool, slice->pool) == 0 &&
            mate->generation > slice->generation)
            return false;
    }
    return true;
}

/* policy: of these drivers alone; NULL: of all. */
static struct claims_count count_of(const struct allocate_question *model,
                                    const struct allocate_want *want, const struct policy *policy,
                                    struct arena *arena)
{
    struct claims_count count = {0};
    for (size_t i = 0; i < model->n_slices; i++) {
        const struct allocate_slice *slice = &model->slices[i];
        if (policy && !policy_device_driver(policy, slice->driver))
            continue;
        for (size_t d = 0; is_newest(model, slice) && d < slice->n_devices; d++) {
            const struct allocate_device *device = &slice->devices[d];
            count.n_all++;
            if (!passes(&want->device_class->selectors, device->facts, arena, &count.n_errors) ||
                !passes(&want->selectors, device->facts, arena, &count.n_errors))
                continue;
            const bool is_tainted = allocate_keeps_off(want, device->taints, device->n_taints);
            const bool is_free = !device->is_allocated && !device->is_shared;
            count.n_matching++;
            count.n_tainted += is_tainted;
            count.n_free += !is_tainted && (is_free || want->is_admin);
        }
    }
    return count;
}

static void compare_count(const struct claims_count *seen, const struct claims_count *wanted)
{
    assert_null(seen->not_judged);
    assert_int_equal(seen->n_all, wanted->n_all);
    assert_int_equal(seen->n_matching, wanted->n_matching);
    assert_int_equal(seen->n_errors, wanted->n_errors);
    assert_int_equal(seen->n_tainted, wanted->n_tainted);
    assert_int_equal(seen->n_free, wanted->n_free);
}

static void compare_counts(const struct comparison *comparison)
{
    struct arena *arena = comparison->arena;
    const struct policy *policy = &comparison->life->policy;
    const struct allocate_question model = model_of(comparison, 0);
    const struct device_copy_kinds kinds = device_copy_kinds(comparison->copy, arena);
    const struct claims_seen seen_all = {kinds.items, kinds.n_with_others, NULL};
    const struct claims_seen seen_named = {kinds.items, kinds.n, NULL};
    uint64_t steps_left = UINT64_MAX;
    for (size_t i = 0; i < model.n_claims; i++) {
        const struct allocate_want *want = &model.claims[i].requests[0].wants[0];
        const struct claims_count all = claims_count(want, &seen_all, &steps_left, arena);
        const struct claims_count named = claims_count(want, &seen_named, &steps_left, arena);
        const struct claims_count wanted_all = count_of(&model, want, NULL, arena);
        const struct claims_count wanted_named = count_of(&model, want, policy, arena);
        compare_count(&all, &wanted_all);
        compare_count(&named, &wanted_named);
    }
}

/* ---- placed pods ---- */

static json_t *result_of(const struct allocate_want *want, const struct allocate_result *result)
{
    const struct allocate_device *device = result->device;
    json_t *json =
        json_pack("{s:s, s:s, s:s, s:b}", "driver", result->slice->driver, "pool",
                  result->slice->pool, "device", device->name, "adminAccess", want->is_admin);
    json_t *consumed = json_object();
    for (size_t i = 0; i < device->n_capacities; i++)
        (void)json_object_set_new(
            consumed, device->capacities[i].name,
            json_sprintf("%" PRId64, allocate_amount_taken(want, &device->capacities[i])));
    if (device->facts->allows_multiple) {
        (void)json_object_set_new(json, "shareID", json_string("s"));
        if (device->n_capacities > 0)
            (void)json_object_set(json, "consumedCapacity", consumed);
    }
    json_decref(consumed);
    return json;
}

static void place(struct comparison *comparison, const struct node_answer *node)
{
    json_t *results = json_array();
    for (size_t c = 0; c < node->asked.n_claims; c++) {
        const struct allocate_claim *claim = &node->asked.claims[c];
        const struct allocate_results *given = &node->answer.results[c];
        for (size_t i = 0; i < given->n; i++) {
            const struct allocate_result *result = &given->devices[i];
            (void)json_array_append_new(
                results, result_of(&claim->requests[result->request].wants[result->want], result));
        }
        device_copy_take(comparison->copy, claim, given);
    }
    (void)json_array_append_new(
        comparison->others,
        json_pack("{s:{s:{s:{s:o}}}}", "status", "allocation", "devices", "results", results));
}

/* Devices that are taken change the verdict of a node only where they say so, and no refusal. */
static void compare_after(struct comparison *comparison, size_t n_before)
{
    static const char *const NAMES[OBJECTS_NODES] = {"node-0", "node-1", "node-2"};
    for (size_t i = 0; i < OBJECTS_NODES; i++) {
        const struct node_answer before = comparison->nodes[i];
        const bool may_change =
            (before.answer.verdict == ALLOCATE_FITS || before.answer.verdict == ALLOCATE_ERROR) &&
            device_copy_touches(comparison->copy, n_before, NAMES[i]);
        compare_node(comparison, i);
        if (before.text && comparison->nodes[i].text && !may_change)
            assert_string_equal(comparison->nodes[i].text, before.text);
    }
}

static void place_pods(struct comparison *comparison)
{
    struct dice *dice = comparison->life->dice;
    size_t n_taken[PLACED_MAX];
    size_t n_placed = 0;
    const size_t n_others = json_array_size(comparison->others);
    for (unsigned n = dice_below(dice, PLACED_MAX + 1); n > 0; n--) {
        const struct node_answer *node = &comparison->nodes[dice_below(dice, OBJECTS_NODES)];
        if (!node->text || node->answer.verdict != ALLOCATE_FITS)
            continue;
        n_taken[n_placed++] = device_copy_n_taken(comparison->copy);
        place(comparison, node);
        compare_after(comparison, n_taken[n_placed - 1]);
    }
    compare_counts(comparison);
    if (n_placed == 0)
        return;
    const size_t left = dice_below(dice, (unsigned)n_placed);
    device_copy_give_back(comparison->copy, n_taken[left]);
    while (json_array_size(comparison->others) > n_others + left)
        (void)json_array_remove(comparison->others, json_array_size(comparison->others) - 1);
    for (size_t i = 0; i < OBJECTS_NODES; i++)
        compare_node(comparison, i);
    compare_counts(comparison);
}

static void compare(struct life *life)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    json_auto_t *kept = json_array();
    json_auto_t *asked = random_asked(life->dice);
    struct comparison comparison = {.life = life,
                                    .arena = arena,
                                    .kept = kept,
                                    .slices = json_array(),
                                    .asked = asked,
                                    .others = array_of(life->objects.claims, CLAIMS)};
    read_copy(&comparison);
    for (size_t i = 0; i < OBJECTS_NODES; i++)
        compare_node(&comparison, i);
    compare_counts(&comparison);
    place_pods(&comparison);
    device_copy_free(comparison.copy);
    json_decref(comparison.slices);
    json_decref(comparison.others);
}

/* ---- lives ---- */

static void live(struct dice *dice, uint64_t *n_events, uint64_t end)
{
    struct life life = {.dice = dice, .n_events = *n_events};
    policy_init(&life.policy);
    life.cluster = cluster_new(&life.policy);
    for (size_t i = 0; i < OBJECTS_CLASSES; i++)
        put_class(&life, i, random_class(dice, i));
    while (life.n_events < end) {
        any_event(&life);
        if (life.n_events % EVENTS_OF_A_COMPARISON == 0)
            compare(&life);
    }
    for (size_t i = 0; i < SLICES; i++)
        put_slice(&life, i, NULL);
    for (size_t i = 0; i < CLAIMS; i++)
        put_claim(&life, i, NULL);
    for (size_t i = 0; i < RULES; i++)
        put_rule(&life, i, NULL);
    for (size_t i = 0; i < OBJECTS_CLASSES; i++)
        json_decref(life.objects.classes[i]);
    cluster_free(life.cluster);
    policy_fini(&life.policy);
    *n_events = life.n_events;
}

static void test_the_copy_equals_the_objects(void **state)
{
    (void)state;
    const uint64_t end = dice_number_from("LEDGER_EVENTS", DEFAULT_EVENTS) / EVENT_PRICE;
    const uint64_t seed = dice_number_from("LEDGER_SEED", DEFAULT_SEED);
    uint64_t n_events = 0;
    struct dice dice = {seed};
    print_message("LEDGER_SEED=%" PRIu64 " LEDGER_EVENTS=%" PRIu64 "\n", seed, end * EVENT_PRICE);
    while (n_events < end) {
        const uint64_t left = end - n_events;
        live(&dice, &n_events, n_events + (left < EVENTS_OF_A_LIFE ? left : EVENTS_OF_A_LIFE));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_copy_equals_the_objects)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
