/*
 * prop_devices: a million random events, applied to dra/ and to a model too simple to be wrong
 * (oracle.c). After each event dra/ checks itself; after some it must equal the model, and only
 * the nodes whose numbers changed must have been reported.
 *
 * LEDGER_EVENTS: number of events. LEDGER_SEED: seed of the dice.
 */
#include "base/mem.h"
#include "dice.h"
#include "facts.h"
#include "recount.h"
#include "unit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_EVENTS 1000000
#define DEFAULT_SEED 20171115
#define EVENTS_OF_A_LIFE 20000
#define EVENTS_OF_A_COMPARISON 20

struct life {
    struct dice *dice;
    struct devices *devices;
    struct oracle oracle;
    char *shown[ORACLE_PLACES]; /* at the last comparison */
    bool is_reported[ORACLE_PLACES];
    unsigned n_drivers, n_pools, n_slices;
    uint64_t n_events;
};

/* Throws dice one after another: C leaves the order of initializers and arguments open, and a seed
 * must mean the same everywhere. */

static int64_t random_amount(struct dice *dice)
{
    if (dice_one_in(dice, 40))
        return INT64_MAX - (int64_t)dice_below(dice, 2);
    return (int64_t)dice_below(dice, 4);
}

static void random_amounts(struct dice *dice, struct oracle_set *set, int64_t more)
{
    for (size_t c = 0; c < ORACLE_COUNTERS; c++) {
        const int64_t amount = random_amount(dice);
        set->amounts[c] = amount > INT64_MAX - more ? INT64_MAX : amount + more;
    }
}

/* One set, or two different ones; now and then with a counter that does not exist. */
static unsigned random_consumption(struct dice *dice, struct oracle_set *consumes)
{
    const unsigned n = dice_one_in(dice, 3) ? 1 + dice_one_in(dice, 4) : 0;
    const unsigned first = dice_below(dice, 2);
    for (unsigned i = 0; i < n; i++) {
        consumes[i].name = dice_one_in(dice, 60) ? 2 : (first + i) % 2;
        random_amounts(dice, &consumes[i], 0);
        for (size_t c = 0; c < ORACLE_COUNTERS; c++) {
            if (c > 0 && !dice_one_in(dice, 60))
                consumes[i].amounts[c] = -1;
        }
    }
    return n == 2 && consumes[0].name == consumes[1].name ? 1 : n;
}

static struct oracle_device random_device(struct dice *dice, unsigned name)
{
    struct oracle_device device = {.name = dice_one_in(dice, 40) ? 0 : name % ORACLE_NAMES};
    device.model = dice_below(dice, ORACLE_MODELS);
    device.profile = dice_one_in(dice, 3) ? 1 + dice_below(dice, 2) : 0;
    device.key = dice_one_in(dice, 4) ? dice_below(dice, ORACLE_KEYS) : 0;
    device.place = dice_below(dice, ORACLE_PLACES);
    device.memory_bytes = dice_below(dice, 3);
    device.is_tainted = dice_one_in(dice, 8);
    device.not_judged = dice_one_in(dice, 12);
    device.n_consumes = random_consumption(dice, device.consumes);
    return device;
}

static bool is_mate(const struct oracle_slice *a, const struct oracle_slice *b)
{
    return a->is_there && b->is_there && a->driver == b->driver && a->pool == b->pool;
}

/* Mostly in the generation of its pool, of which it mostly knows the number of slices. */
static void join_mates(const struct life *life, struct oracle_slice *slice, size_t at)
{
    int64_t n = 1;
    slice->generation = 1;
    for (size_t i = 0; i < ORACLE_SLICES; i++) {
        if (i == at || !is_mate(slice, &life->oracle.slices[i]))
            continue;
        slice->generation = life->oracle.slices[i].generation;
        n++;
    }
    slice->n_slices = dice_one_in(life->dice, 4) ? dice_below(life->dice, 4) : n;
    if (dice_one_in(life->dice, 12))
        slice->generation = (int64_t)dice_below(life->dice, 4) - 1;
}

static struct oracle_slice random_slice(const struct life *life, size_t i)
{
    struct dice *dice = life->dice;
    struct oracle_slice slice = {.is_there = true};
    slice.driver =
        dice_one_in(dice, 20) ? dice_below(dice, ORACLE_DRIVERS) : (unsigned)i % life->n_drivers;
    slice.pool =
        dice_one_in(dice, 20) ? dice_below(dice, ORACLE_POOLS) : (unsigned)(i / 2) % life->n_pools;
    slice.place = dice_below(dice, ORACLE_PLACES);
    slice.per_device = dice_one_in(dice, 4);
    if (slice.per_device)
        slice.place = 0;
    join_mates(life, &slice, i);
    slice.n_devices = dice_below(dice, ORACLE_DEVICES_MAX + 1);
    for (unsigned d = 0; d < slice.n_devices; d++)
        slice.devices[d] = random_device(dice, (unsigned)i + d);
    if (dice_one_in(dice, 3))
        slice.n_sets = 1 + dice_below(dice, 2);
    if (slice.n_sets > 0 && !dice_one_in(dice, 4))
        slice.n_devices = 0;
    for (unsigned s = 0; s < slice.n_sets; s++) {
        slice.sets[s].name = dice_one_in(dice, 30) ? dice_below(dice, ORACLE_SETS) : s;
        random_amounts(dice, &slice.sets[s], 3);
        slice.sets[s].amounts[2] = dice_one_in(dice, 30) ? -1 : slice.sets[s].amounts[2];
    }
    return slice;
}

static struct oracle_claim random_claim(const struct life *life)
{
    struct dice *dice = life->dice;
    struct oracle_claim claim = {.is_there = true, .is_allocated = !dice_one_in(dice, 4)};
    claim.n_results = dice_below(dice, ORACLE_RESULTS_MAX + 1);
    for (unsigned r = 0; r < claim.n_results; r++) {
        claim.results[r].driver = dice_one_in(dice, 20) ? dice_below(dice, ORACLE_DRIVERS)
                                                        : dice_below(dice, life->n_drivers);
        claim.results[r].pool = dice_below(dice, life->n_pools);
        claim.results[r].name = dice_below(dice, ORACLE_NAMES);
        claim.results[r].is_admin = dice_one_in(dice, 6);
        claim.results[r].is_shared = dice_one_in(dice, 6);
        claim.results[r].amount = claim.results[r].is_shared ? dice_below(dice, 4) : 0;
    }
    return claim;
}

static struct oracle_rule random_rule(struct dice *dice)
{
    struct oracle_rule rule = {.is_there = true};
    rule.driver = dice_one_in(dice, 2) ? ORACLE_ANY : dice_below(dice, ORACLE_DRIVERS);
    rule.pool = dice_one_in(dice, 2) ? ORACLE_ANY : dice_below(dice, ORACLE_POOLS);
    rule.name = dice_one_in(dice, 4) ? ORACLE_ANY : dice_below(dice, ORACLE_NAMES);
    return rule;
}

/* Events. */

static void put_slice(struct life *life, size_t i, const struct oracle_slice *slice)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct slice_facts facts = facts_of_slice(arena, slice, i);
    life->oracle.slices[i] = *slice;
    life->oracle.slices[i].is_unreadable = false;
    devices_upsert_slice(life->devices, &facts);
}

static void put_claim(struct life *life, size_t i, const struct oracle_claim *claim)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct claim_facts facts = facts_of_claim(arena, claim, i);
    life->oracle.claims[i] = *claim;
    devices_upsert_claim(life->devices, &facts);
}

static void put_rule(struct life *life, size_t i, const struct oracle_rule *rule)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct device_taint_facts facts = facts_of_rule(arena, rule, i);
    life->oracle.rules[i] = *rule;
    devices_upsert_taint(life->devices, &facts);
}

static size_t any_slice(const struct life *life)
{
    return dice_below(life->dice, life->n_slices);
}

static void put_any_slice(struct life *life)
{
    const size_t i = any_slice(life);
    const struct oracle_slice slice = random_slice(life, i);
    put_slice(life, i, &slice);
}

static void put_any_claim(struct life *life)
{
    const size_t i = dice_below(life->dice, ORACLE_CLAIMS);
    const struct oracle_claim claim = random_claim(life);
    put_claim(life, i, &claim);
}

static void put_any_rule(struct life *life)
{
    const size_t i = dice_below(life->dice, ORACLE_RULES);
    const struct oracle_rule rule = random_rule(life->dice);
    put_rule(life, i, &rule);
}

/* The first slice has both counter sets, with every counter; the others have devices that consume
 * them. */
static void repair_sets(const struct life *life, struct oracle_slice *slice, bool is_first)
{
    slice->n_sets = is_first ? 2 : 0;
    if (is_first)
        slice->n_devices = 0;
    for (unsigned s = 0; s < slice->n_sets; s++) {
        slice->sets[s].name = s;
        random_amounts(life->dice, &slice->sets[s], 1);
    }
    for (unsigned d = 0; d < slice->n_devices; d++) {
        for (unsigned i = 0; i < slice->devices[d].n_consumes; i++)
            slice->devices[d].consumes[i].name = (slice->devices[d].name + i) % 2;
    }
}

/* Each name once on each place. */
static void repair_names(struct oracle_slice *slice, unsigned *n_names)
{
    for (unsigned d = 0; d < slice->n_devices; d++) {
        struct oracle_device *device = &slice->devices[d];
        const unsigned place = slice->per_device ? device->place : slice->place;
        if (n_names[place] == ORACLE_NAMES)
            slice->n_devices = d;
        else
            device->name = n_names[place]++;
    }
}

/* What drivers do: all slices of the pool say how many there are, in one generation. Mostly they
 * agree on counter sets and names, too. */
static void complete_pool(struct life *life)
{
    const struct oracle_slice pool = life->oracle.slices[any_slice(life)];
    const int64_t generation = dice_one_in(life->dice, 2) ? pool.generation : pool.generation + 1;
    const bool repairs_sets = !dice_one_in(life->dice, 4);
    const bool repairs_names = !dice_one_in(life->dice, 4);
    unsigned n_names[ORACLE_PLACES] = {0};
    int64_t n = 0;
    int64_t n_done = 0;
    for (size_t i = 0; i < ORACLE_SLICES; i++)
        n += is_mate(&pool, &life->oracle.slices[i]);
    for (size_t i = 0; i < ORACLE_SLICES; i++) {
        struct oracle_slice slice = life->oracle.slices[i];
        if (!is_mate(&pool, &slice))
            continue;
        slice.n_slices = n;
        slice.generation = generation > 6 ? 1 : generation;
        if (repairs_names)
            repair_names(&slice, n_names);
        if (repairs_sets)
            repair_sets(life, &slice, n_done == 0);
        put_slice(life, i, &slice);
        n_done++;
    }
}

/* Slightly changes a slice, or nothing. */
static void change_slice(struct life *life)
{
    const size_t i = any_slice(life);
    struct oracle_slice slice = life->oracle.slices[i];
    struct dice *dice = life->dice;
    if (!slice.is_there)
        return;
    switch (dice_below(dice, 6)) {
    case 0:
        slice.generation += 1 - 2 * (int64_t)dice_below(dice, 2);
        break;
    case 1:
        slice.n_slices = (int64_t)dice_below(dice, 5);
        break;
    case 2: /* a device is withdrawn */
        slice.n_devices -= slice.n_devices > 0;
        break;
    case 3:
        slice.place = slice.per_device ? 0 : dice_below(dice, ORACLE_PLACES);
        break;
    case 4:
        if (slice.n_devices > 0)
            slice.devices[0].is_tainted = !slice.devices[0].is_tainted;
        break;
    default:
        break;
    }
    put_slice(life, i, &slice);
}

/* Deallocates, or allocates to other devices. */
static void change_claim(struct life *life)
{
    const size_t i = dice_below(life->dice, ORACLE_CLAIMS);
    struct oracle_claim claim = life->oracle.claims[i];
    if (!claim.is_there)
        return;
    claim.is_allocated = !claim.is_allocated;
    put_claim(life, i, &claim);
}

static void remove_slice(struct life *life)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const size_t i = any_slice(life);
    life->oracle.slices[i].is_there = false;
    devices_delete_slice(life->devices, facts_name(arena, "slice", i));
}

static void delete_claim(struct life *life, size_t i)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct claim_facts facts = facts_of_claim(arena, &life->oracle.claims[i], i);
    life->oracle.claims[i].is_there = false;
    devices_delete_claim(life->devices, facts.namespace_, facts.name);
}

static void remove_claim(struct life *life)
{
    delete_claim(life, dice_below(life->dice, ORACLE_CLAIMS));
}

static void remove_rule(struct life *life)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const size_t i = dice_below(life->dice, ORACLE_RULES);
    life->oracle.rules[i].is_there = false;
    devices_delete_taint(life->devices, facts_name(arena, "rule", i));
}

static void keep_slice(struct life *life, size_t i)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    life->oracle.slices[i].is_unreadable = true;
    devices_keep_slice(life->devices, facts_name(arena, "slice", i));
}

static void keep_any_slice(struct life *life)
{
    keep_slice(life, any_slice(life));
}

/* Ends a list, at once or in pieces. */
static void end_list(struct life *life, enum devices_kind kind)
{
    if (dice_one_in(life->dice, 2)) {
        devices_relist_end(life->devices, kind);
        return;
    }
    while (!devices_relist_sweep(life->devices, kind, 1)) {
    }
}

/* Lists: most objects, some slightly changed or unreadable; the missing ones must go. */

static void list_slices(struct life *life)
{
    devices_relist_begin(life->devices, DEVICES_SLICES);
    for (size_t i = ORACLE_SLICES; i-- > 0;) {
        const struct oracle_slice slice = life->oracle.slices[i];
        if (slice.is_there && dice_one_in(life->dice, 12))
            keep_slice(life, i);
        else if (slice.is_there && !dice_one_in(life->dice, 8))
            put_slice(life, i, &slice);
        else
            life->oracle.slices[i].is_there = false;
    }
    end_list(life, DEVICES_SLICES);
}

static void list_claims(struct life *life)
{
    devices_relist_begin(life->devices, DEVICES_CLAIMS);
    for (size_t i = 0; i < ORACLE_CLAIMS; i++) {
        struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
        const struct oracle_claim claim = life->oracle.claims[i];
        const struct claim_facts facts = facts_of_claim(arena, &claim, i);
        if (claim.is_there && dice_one_in(life->dice, 12))
            devices_keep_claim(life->devices, facts.namespace_, facts.name);
        else if (claim.is_there && !dice_one_in(life->dice, 8))
            put_claim(life, i, &claim);
        else
            life->oracle.claims[i].is_there = false;
    }
    end_list(life, DEVICES_CLAIMS);
}

static void list_rules(struct life *life)
{
    devices_relist_begin(life->devices, DEVICES_TAINTS);
    for (size_t i = 0; i < ORACLE_RULES; i++) {
        struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
        const struct oracle_rule rule = life->oracle.rules[i];
        if (rule.is_there && dice_one_in(life->dice, 8))
            devices_keep_taint(life->devices, facts_name(arena, "rule", i));
        else if (rule.is_there && !dice_one_in(life->dice, 4))
            put_rule(life, i, &rule);
        else
            life->oracle.rules[i].is_there = false;
    }
    end_list(life, DEVICES_TAINTS);
}

typedef void event_function(struct life *life);

static const struct event_row {
    unsigned weight;
    event_function *act;
} EVENTS[] = {
    {50, put_any_slice}, {120, complete_pool}, {50, change_slice},   {10, remove_slice},
    {6, keep_any_slice}, {4, list_slices},     {150, put_any_claim}, {60, change_claim},
    {60, remove_claim},  {6, list_claims},     {10, put_any_rule},   {20, remove_rule},
    {3, list_rules},
};

static void any_event(struct life *life)
{
    unsigned sum = 0;
    for (size_t i = 0; i < sizeof EVENTS / sizeof *EVENTS; i++)
        sum += EVENTS[i].weight;
    unsigned at = dice_below(life->dice, sum);
    size_t i = 0;
    while (at >= EVENTS[i].weight)
        at -= EVENTS[i++].weight;
    EVENTS[i].act(life);
    life->n_events++;
}

/* Comparisons. */

static void take_changed(struct life *life)
{
    while (devices_take_changed_claim(life->devices)) {
    }
    for (const char *name = NULL; (name = devices_take_changed(life->devices)) != NULL;) {
        for (unsigned place = 0; place < ORACLE_PLACES; place++) {
            if (strcmp(name, ORACLE_PLACE[place]) == 0)
                life->is_reported[place] = true;
        }
    }
}

static void check_itself(const struct life *life)
{
    struct err err = {""};
    size_t n_differences = devices_recount(life->devices, &err);
    while (!devices_check_some(life->devices, 1, &n_differences, &err)) {
    }
    if (n_differences > 0)
        fail_msg("event %" PRIu64 ": %s", life->n_events, err.text);
}

/* What changed must have been reported, as a change there and back may have been. */
static void compare_places(struct life *life)
{
    for (unsigned place = 0; place < ORACLE_PLACES; place++) {
        char *expected = oracle_on_node(&life->oracle, place);
        char *seen CLEANUP(mem_free_ptr) = oracle_seen_on_node(life->devices, place);
        if (strcmp(seen, expected) != 0)
            fail_msg("event %" PRIu64 ": should be: %sis: %s", life->n_events, expected, seen);
        if (strcmp(life->shown[place], expected) != 0 && !life->is_reported[place])
            fail_msg("event %" PRIu64 ": %s changed unnoticed", life->n_events, expected);
        const struct oracle_shares shares = oracle_shares(&life->oracle, place);
        const struct oracle_shares seen_shares = oracle_seen_shares(life->devices, place);
        if (memcmp(&shares, &seen_shares, sizeof shares) != 0)
            fail_msg("event %" PRIu64 ": shared devices of '%s' differ", life->n_events,
                     ORACLE_PLACE[place]);
        free(life->shown[place]);
        life->shown[place] = expected;
        life->is_reported[place] = false;
    }
}

static unsigned index_of(const char *const *texts, unsigned n, const char *text)
{
    for (unsigned i = 0; i < n; i++) {
        if (strcmp(texts[i], text) == 0)
            return i;
    }
    fail_msg("unknown: %s", text);
    return n;
}

static void compare_pools(const struct life *life)
{
    struct device_pool pool = {0};
    size_t n = 0;
    size_t n_expected = 0;
    while (devices_next_unusable(life->devices, &pool)) {
        const unsigned driver = index_of(ORACLE_DRIVER, ORACLE_DRIVERS, pool.driver);
        const unsigned name = index_of(ORACLE_POOL, ORACLE_POOLS, pool.pool);
        const unsigned place = index_of(ORACLE_PLACE, ORACLE_PLACES, pool.node_name);
        const char *why = oracle_unusable(&life->oracle, driver, name, place);
        assert_string_equal(pool.why, why ? why : "");
        n++;
    }
    for (unsigned i = 0; i < (ORACLE_DRIVERS - 1) * ORACLE_POOLS * ORACLE_PLACES; i++) {
        const unsigned driver = i / (ORACLE_POOLS * ORACLE_PLACES);
        n_expected += oracle_unusable(&life->oracle, driver, i / ORACLE_PLACES % ORACLE_POOLS,
                                      i % ORACLE_PLACES) != NULL;
    }
    assert_int_equal(n, n_expected);
}

static void compare_counts(const struct life *life)
{
    size_t n_slices = 0;
    size_t n_claims = 0;
    size_t n_rules = 0;
    for (size_t i = 0; i < ORACLE_SLICES; i++)
        n_slices += life->oracle.slices[i].is_there;
    for (size_t i = 0; i < ORACLE_CLAIMS; i++)
        n_claims += life->oracle.claims[i].is_there;
    for (size_t i = 0; i < ORACLE_RULES; i++)
        n_rules += life->oracle.rules[i].is_there;
    assert_int_equal(devices_count(life->devices, DEVICES_SLICES), n_slices);
    assert_int_equal(devices_count(life->devices, DEVICES_CLAIMS), n_claims);
    assert_int_equal(devices_count(life->devices, DEVICES_TAINTS), n_rules);
}

static void compare(struct life *life)
{
    take_changed(life);
    check_itself(life);
    if (life->n_events % EVENTS_OF_A_COMPARISON != 0)
        return;
    compare_places(life);
    compare_pools(life);
    compare_counts(life);
}

/* Lives. */

/* Empty lists: nothing may stay. */
static void list_nothing(struct life *life)
{
    for (int kind = 0; kind < N_DEVICES_KINDS; kind++) {
        devices_relist_begin(life->devices, (enum devices_kind)kind);
        devices_relist_end(life->devices, (enum devices_kind)kind);
    }
    life->oracle = (struct oracle){0};
    life->n_events += EVENTS_OF_A_COMPARISON - life->n_events % EVENTS_OF_A_COMPARISON;
    compare(life);
}

static void live(struct dice *dice, const struct policy *policy, uint64_t *n_events, uint64_t end)
{
    struct life life = {.dice = dice, .n_events = *n_events};
    life.devices = devices_new(policy);
    life.n_drivers = 1 + dice_below(dice, 2);
    life.n_pools = 1 + dice_below(dice, ORACLE_POOLS);
    life.n_slices = 2 + dice_below(dice, ORACLE_SLICES - 1);
    for (unsigned place = 0; place < ORACLE_PLACES; place++)
        life.shown[place] = oracle_on_node(&life.oracle, place);
    while (life.n_events < end) {
        any_event(&life);
        compare(&life);
    }
    if (dice_one_in(dice, 2))
        list_nothing(&life);
    for (unsigned place = 0; place < ORACLE_PLACES; place++)
        free(life.shown[place]);
    devices_free(life.devices);
    *n_events = life.n_events;
}

static void test_devices_equal_the_oracle(void **state)
{
    (void)state;
    const uint64_t end = dice_number_from("LEDGER_EVENTS", DEFAULT_EVENTS);
    const uint64_t seed = dice_number_from("LEDGER_SEED", DEFAULT_SEED);
    uint64_t n_events = 0;
    struct policy policy;
    struct dice dice = {seed};
    print_message("LEDGER_SEED=%" PRIu64 " LEDGER_EVENTS=%" PRIu64 "\n", seed, end);
    policy_init(&policy);
    while (n_events < end) {
        const uint64_t left = end - n_events;
        live(&dice, &policy, &n_events,
             n_events + (left < EVENTS_OF_A_LIFE ? left : EVENTS_OF_A_LIFE));
    }
    policy_fini(&policy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_devices_equal_the_oracle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
