/* oracle: see oracle.h. */
#include "oracle.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const ORACLE_DRIVER[] = {"gpu.amd.com", "gpu.nvidia.com", "nic.example.com"};
const char *const ORACLE_POOL[] = {"pool-a", "pool-b", "pool-c"};
const char *const ORACLE_PLACE[] = {"", "node-1", "node-2", "node-3"};
const char *const ORACLE_NAME[] = {"gpu-0", "gpu-1", "gpu-2", "gpu-3", "part-0", "part-1"};
const char *const ORACLE_TEXT[] = {"", "NVIDIA A100-SXM4-40GB", "a100 sxm4 40gb",
                                   "NVIDIA H100 80GB HBM3"};
static const char *const CANONICAL[] = {"", "A100-SXM4-40GB", "A100-SXM4-40GB", "H100-80GB-HBM3"};
const char *const ORACLE_PROFILE[] = {"", "1g.10gb", "3g.40gb"};
const char *const ORACLE_KEY[] = {"", "0000:01:00.0", "0000:02:00.0"};
const char *const ORACLE_SET[] = {"set-0", "set-1", "set-2"};
const char *const ORACLE_COUNTER[] = {"memory", "slices", "engines"};

#define N_DEVICES ((size_t)ORACLE_SLICES * ORACLE_DEVICES_MAX)
#define N_ROWS (2 * N_DEVICES)

/* No sum of amounts overflows. */
__extension__ typedef __int128 wide;

/* A pool as a place sees it. */
struct view {
    const struct oracle *oracle;
    unsigned driver, pool, place;
    bool is_gone; /* nothing there, or obsolete */
    int64_t generation;
    bool is_complete;
};

static bool is_of(const struct oracle_slice *slice, unsigned driver, unsigned pool)
{
    return slice->is_there && slice->driver == driver && slice->pool == pool;
}

static unsigned place_of(const struct oracle_slice *slice, const struct oracle_device *device)
{
    return slice->per_device ? device->place : slice->place;
}

static bool concerns(const struct oracle_slice *slice, unsigned place)
{
    if (slice->n_sets > 0)
        return true;
    for (unsigned i = 0; i < slice->n_devices; i++) {
        if (place_of(slice, &slice->devices[i]) == place)
            return true;
    }
    return slice->n_devices == 0 && !slice->per_device && slice->place == place;
}

/* The slices of this generation that concern the place, or all (place ORACLE_PLACES). */
static int64_t count_slices(const struct view *view, unsigned place)
{
    int64_t n = 0;
    for (size_t i = 0; i < ORACLE_SLICES; i++) {
        const struct oracle_slice *slice = &view->oracle->slices[i];
        n += is_of(slice, view->driver, view->pool) && slice->generation == view->generation &&
             (place == ORACLE_PLACES || concerns(slice, place));
    }
    return n;
}

/* Whether each of those that concern the place says that there are n. */
static bool are_all(const struct view *view, unsigned place, int64_t n)
{
    for (size_t i = 0; i < ORACLE_SLICES; i++) {
        const struct oracle_slice *slice = &view->oracle->slices[i];
        if (is_of(slice, view->driver, view->pool) && slice->generation == view->generation &&
            concerns(slice, place) && slice->n_slices != n)
            return false;
    }
    return true;
}

static bool has_newer(const struct view *view)
{
    for (size_t i = 0; i < ORACLE_SLICES; i++) {
        const struct oracle_slice *slice = &view->oracle->slices[i];
        if (is_of(slice, view->driver, view->pool) && slice->generation > view->generation)
            return true;
    }
    return false;
}

static struct view look(const struct oracle *oracle, unsigned driver, unsigned pool, unsigned place)
{
    struct view view = {oracle, driver, pool, place, true, INT64_MIN, false};
    for (size_t i = 0; i < ORACLE_SLICES; i++) {
        const struct oracle_slice *slice = &oracle->slices[i];
        if (!is_of(slice, driver, pool) || !concerns(slice, place))
            continue;
        view.is_gone = false;
        if (slice->generation > view.generation)
            view.generation = slice->generation;
    }
    if (view.is_gone)
        return view;
    view.is_complete = are_all(&view, place, count_slices(&view, place));
    if (!view.is_complete && has_newer(&view))
        view.is_gone = true;
    else if (!view.is_complete)
        view.is_complete = are_all(&view, place, count_slices(&view, ORACLE_PLACES));
    return view;
}

/* Whether the place takes the device from the slice. */
static bool is_current(const struct view *view, const struct oracle_slice *slice,
                       const struct oracle_device *device)
{
    return !view->is_gone && is_of(slice, view->driver, view->pool) &&
           slice->generation == view->generation && place_of(slice, device) == view->place;
}

/* Counter sets. */

static bool sees_sets(const struct view *view)
{
    int64_t newest = INT64_MIN;
    for (size_t i = 0; i < ORACLE_SLICES; i++) {
        const struct oracle_slice *slice = &view->oracle->slices[i];
        if (is_of(slice, view->driver, view->pool) && slice->n_sets > 0 &&
            slice->generation > newest)
            newest = slice->generation;
    }
    return !view->is_gone && newest != INT64_MIN && newest == view->generation;
}

/* The set as the pool has it in its newest generation with sets; *ret_n times. */
static const struct oracle_set *find_set(const struct view *view, unsigned name, size_t *ret_n)
{
    const struct oracle_set *found = NULL;
    *ret_n = 0;
    for (size_t i = 0; i < ORACLE_SLICES; i++) {
        const struct oracle_slice *slice = &view->oracle->slices[i];
        if (!is_of(slice, view->driver, view->pool) || slice->generation != view->generation)
            continue;
        for (unsigned j = 0; j < slice->n_sets; j++) {
            if (slice->sets[j].name != name)
                continue;
            found = &slice->sets[j];
            (*ret_n)++;
        }
    }
    return found;
}

static bool lacks(const struct view *view, const struct oracle_device *device)
{
    for (unsigned i = 0; i < device->n_consumes; i++) {
        size_t n = 0;
        const struct oracle_set *set = find_set(view, device->consumes[i].name, &n);
        if (!set)
            return true;
        for (size_t c = 0; c < ORACLE_COUNTERS; c++) {
            if (device->consumes[i].amounts[c] >= 0 && set->amounts[c] < 0)
                return true;
        }
    }
    return false;
}

/* Any device of the pool, on whatever place. */
static bool any_lacks(const struct view *view)
{
    for (unsigned place = 0; place < ORACLE_PLACES; place++) {
        const struct view other = look(view->oracle, view->driver, view->pool, place);
        if (!sees_sets(&other))
            continue;
        for (size_t i = 0; i < N_DEVICES; i++) {
            const struct oracle_slice *slice = &view->oracle->slices[i / ORACLE_DEVICES_MAX];
            const struct oracle_device *device = &slice->devices[i % ORACLE_DEVICES_MAX];
            if (i % ORACLE_DEVICES_MAX < slice->n_devices && is_current(&other, slice, device) &&
                lacks(&other, device))
                return true;
        }
    }
    return false;
}

static bool any_repeated(const struct view *view)
{
    for (unsigned name = 0; name < ORACLE_SETS; name++) {
        size_t n = 0;
        (void)find_set(view, name, &n);
        if (n > 1)
            return true;
    }
    return false;
}

static bool is_used(const struct view *view, unsigned name)
{
    for (size_t i = 0; i < ORACLE_CLAIMS; i++) {
        const struct oracle_claim *claim = &view->oracle->claims[i];
        for (unsigned r = 0; claim->is_there && claim->is_allocated && r < claim->n_results; r++) {
            if (claim->results[r].driver == view->driver && claim->results[r].pool == view->pool &&
                claim->results[r].name == name && !claim->results[r].is_admin)
                return true;
        }
    }
    return false;
}

static int64_t consumed(const struct oracle_device *device, unsigned set, size_t counter)
{
    for (unsigned j = 0; j < device->n_consumes; j++) {
        if (device->consumes[j].name == set && device->consumes[j].amounts[counter] > 0)
            return device->consumes[j].amounts[counter];
    }
    return 0;
}

/* What devices in use on any place take of the counter. */
static wide taken(const struct view *view, unsigned set, size_t counter)
{
    wide sum = 0;
    for (unsigned place = 0; place < ORACLE_PLACES; place++) {
        const struct view other = look(view->oracle, view->driver, view->pool, place);
        for (size_t i = 0; sees_sets(&other) && i < N_DEVICES; i++) {
            const struct oracle_slice *slice = &view->oracle->slices[i / ORACLE_DEVICES_MAX];
            const struct oracle_device *device = &slice->devices[i % ORACLE_DEVICES_MAX];
            if (i % ORACLE_DEVICES_MAX < slice->n_devices && is_current(&other, slice, device) &&
                is_used(view, device->name))
                sum += consumed(device, set, counter);
        }
    }
    return sum;
}

/* Whether each counter of the pool has enough for all that is in use, and for the device. */
static bool suffices(const struct view *view, const struct oracle_device *device)
{
    for (unsigned name = 0; name < ORACLE_SETS; name++) {
        size_t n = 0;
        const struct oracle_set *set = find_set(view, name, &n);
        for (size_t c = 0; set && c < ORACLE_COUNTERS; c++) {
            const wide needed = taken(view, name, c) + consumed(device, name, c);
            if (set->amounts[c] >= 0 && needed > set->amounts[c])
                return false;
        }
    }
    return true;
}

/* Devices of a view. */

struct found {
    const struct oracle_slice *slice;
    const struct oracle_device *device;
    unsigned gpu_set; /* 1 + the name of the set that is its GPU; 0: none */
    bool is_part;
};

static const struct oracle_set *consumption_of(const struct oracle_device *device, unsigned set)
{
    for (unsigned j = 0; j < device->n_consumes; j++) {
        if (device->consumes[j].name == set)
            return &device->consumes[j];
    }
    return NULL;
}

static bool is_memory(const struct oracle_device *device, const struct oracle_set *consumes,
                      size_t counter)
{
    return device->memory_bytes > 0 && consumes->amounts[counter] == device->memory_bytes;
}

/* Whether the set has all counters of what the device consumes of it, and one of these may be the
 * device's memory. */
static bool may_be_gpu(const struct oracle_set *set, const struct oracle_device *device,
                       const struct oracle_set *consumes)
{
    bool any_memory = false;
    for (size_t c = 0; c < ORACLE_COUNTERS; c++) {
        if (consumes->amounts[c] >= 0 && set->amounts[c] < 0)
            return false;
        any_memory = any_memory || is_memory(device, consumes, c);
    }
    return any_memory;
}

/* Whether that holds for all devices that consume the set, on any place, and they have no two
 * keys. */
static bool is_gpu(const struct view *view, unsigned name)
{
    unsigned key = 0;
    size_t n_sets = 0;
    const struct oracle_set *set = find_set(view, name, &n_sets);
    bool is_one = n_sets == 1;
    for (unsigned place = 0; is_one && place < ORACLE_PLACES; place++) {
        const struct view other = look(view->oracle, view->driver, view->pool, place);
        for (size_t i = 0; is_one && sees_sets(&other) && i < N_DEVICES; i++) {
            const struct oracle_slice *slice = &view->oracle->slices[i / ORACLE_DEVICES_MAX];
            const struct oracle_device *device = &slice->devices[i % ORACLE_DEVICES_MAX];
            const struct oracle_set *consumes = consumption_of(device, name);
            if (i % ORACLE_DEVICES_MAX >= slice->n_devices || !is_current(&other, slice, device) ||
                !consumes)
                continue;
            is_one = may_be_gpu(set, device, consumes) &&
                     (key == 0 || device->key == 0 || device->key == key);
            key = device->key > 0 ? device->key : key;
        }
    }
    return is_one;
}

static void find_gpu_set(const struct view *view, struct found *found)
{
    const struct oracle_device *device = found->device;
    bool has_all = false;
    size_t n = 0;
    found->is_part = device->profile > 0;
    if (device->n_consumes == 0 || !sees_sets(view) || !is_gpu(view, device->consumes[0].name))
        return;
    const struct oracle_set *set = find_set(view, device->consumes[0].name, &n);
    found->gpu_set = 1 + device->consumes[0].name;
    for (size_t c = 0; c < ORACLE_COUNTERS; c++)
        has_all = has_all || (is_memory(device, &device->consumes[0], c) &&
                              set->amounts[c] <= device->memory_bytes);
    found->is_part = found->is_part || !has_all;
}

static size_t find_devices(const struct view *view, struct found *found)
{
    size_t n = 0;
    for (size_t i = 0; i < N_DEVICES; i++) {
        const struct oracle_slice *slice = &view->oracle->slices[i / ORACLE_DEVICES_MAX];
        const struct oracle_device *device = &slice->devices[i % ORACLE_DEVICES_MAX];
        if (i % ORACLE_DEVICES_MAX < slice->n_devices && is_current(view, slice, device))
            found[n++] = (struct found){.slice = slice, .device = device};
    }
    for (size_t i = 0; i < n; i++)
        find_gpu_set(view, &found[i]);
    return n;
}

static const char *fault_of(const struct view *view)
{
    struct found found[N_DEVICES];
    const size_t n = find_devices(view, found);
    bool consumes = false;
    for (size_t i = 0; i < ORACLE_SLICES; i++) {
        const struct oracle_slice *slice = &view->oracle->slices[i];
        if (is_of(slice, view->driver, view->pool) && slice->is_unreadable)
            return "a slice cannot be read";
    }
    for (size_t i = 0; i < n; i++) {
        consumes = consumes || found[i].device->n_consumes > 0;
        for (size_t j = 0; j < i; j++) {
            if (found[i].device->name == found[j].device->name)
                return "devices share a name";
        }
    }
    const bool sees = sees_sets(view);
    if ((consumes && !sees) || (sees && (any_repeated(view) || any_lacks(view))))
        return "a counter set is missing or repeated, or lacks a counter";
    return NULL;
}

const char *oracle_unusable(const struct oracle *oracle, unsigned driver, unsigned pool,
                            unsigned place)
{
    const struct view view = look(oracle, driver, pool, place);
    bool is_there = false; /* with a slice of its own */
    for (size_t i = 0; i < ORACLE_SLICES; i++) {
        const struct oracle_slice *slice = &oracle->slices[i];
        struct oracle_slice alone = *slice;
        alone.n_sets = slice->n_devices > 0 ? 0 : slice->n_sets;
        is_there = is_there ||
                   (is_of(slice, driver, pool) && alone.n_sets == 0 && concerns(&alone, place));
    }
    if (view.is_gone || !is_there)
        return NULL;
    return view.is_complete ? fault_of(&view) : "slices are missing";
}

static bool is_ruled_out(const struct view *view, const struct oracle_device *device)
{
    for (size_t i = 0; i < ORACLE_RULES; i++) {
        const struct oracle_rule *rule = &view->oracle->rules[i];
        if (rule->is_there && (rule->driver == ORACLE_ANY || rule->driver == view->driver) &&
            (rule->pool == ORACLE_ANY || rule->pool == view->pool) &&
            (rule->name == ORACLE_ANY || rule->name == device->name))
            return true;
    }
    return device->is_tainted;
}

enum state { ALLOCATED, FREE, TAINTED, BLOCKED, INCOMPLETE, INVALID, PARTITIONED, N_STATES };

static enum state state_of(const struct view *view, const char *fault,
                           const struct oracle_device *device)
{
    if (is_used(view, device->name))
        return ALLOCATED;
    if (!view->is_complete)
        return INCOMPLETE;
    if (fault || device->not_judged)
        return INVALID;
    if (is_ruled_out(view, device))
        return TAINTED;
    return device->n_consumes == 0 || suffices(view, device) ? FREE : BLOCKED;
}

/* Rows. */

struct oracle_row {
    unsigned driver;
    bool is_partition;
    char name[64];
    int64_t memory_bytes;
    int64_t total, n[N_STATES];
};

struct sheet {
    struct oracle_row rows[N_ROWS];
    size_t n;
};

static void add_row(struct sheet *sheet, unsigned driver, const struct found *found,
                    bool as_partition, enum state state)
{
    const struct oracle_device *device = found->device;
    struct oracle_row row = {.driver = driver, .is_partition = as_partition, .total = 1};
    const char *model = CANONICAL[device->model];
    (void)snprintf(row.name, sizeof row.name, "%s%s%s%s", model,
                   as_partition && model[0] ? "-" : "",
                   !as_partition         ? ""
                   : device->profile > 0 ? "MIG-"
                                         : "PARTITION-partition",
                   as_partition ? ORACLE_PROFILE[device->profile] : "");
    row.memory_bytes = !as_partition && found->is_part ? 0 : device->memory_bytes;
    row.n[state] = 1;
    for (size_t i = 0; i < sheet->n; i++) {
        struct oracle_row *other = &sheet->rows[i];
        if (other->driver != driver || other->is_partition != as_partition ||
            strcmp(other->name, row.name) != 0)
            continue;
        other->total++;
        other->n[state]++;
        if (row.memory_bytes < other->memory_bytes)
            other->memory_bytes = row.memory_bytes;
        return;
    }
    sheet->rows[sheet->n++] = row;
}

static bool same_gpu(const struct view *view, const struct found *of_a, const struct found *of_b)
{
    const struct oracle_device *a = of_a->device;
    const struct oracle_device *b = of_b->device;
    if (of_a->gpu_set > 0 || of_b->gpu_set > 0)
        return of_a->gpu_set == of_b->gpu_set;
    const unsigned key_a = view->place > 0 ? a->key : 0;
    const unsigned key_b = view->place > 0 ? b->key : 0;
    if (key_a > 0 || key_b > 0)
        return key_a == key_b;
    if (a->n_consumes > 0 && b->n_consumes > 0)
        return a->consumes[0].name == b->consumes[0].name;
    return a->n_consumes == 0 && b->n_consumes == 0 && a->name == b->name;
}

/* Names the model of the GPU: whole ones first, then by name, slice and place in it. */
static bool is_before(const struct found *a, const struct found *b)
{
    if (a->is_part != b->is_part)
        return b->is_part;
    if (a->device->name != b->device->name)
        return strcmp(ORACLE_NAME[a->device->name], ORACLE_NAME[b->device->name]) < 0;
    return a->slice != b->slice ? a->slice < b->slice : a->device < b->device;
}

static enum state state_of_gpu(const struct view *view, const char *fault,
                               const struct found *found, size_t n, size_t of)
{
    enum state best = PARTITIONED;
    if (fault)
        best = INVALID;
    if (!view->is_complete)
        best = INCOMPLETE;
    for (size_t i = 0; i < n; i++) {
        if (!same_gpu(view, &found[i], &found[of]))
            continue;
        const enum state state = state_of(view, fault, found[i].device);
        if (state == ALLOCATED || (!found[i].is_part && state < best))
            best = state;
    }
    return best;
}

static void add_view(struct sheet *sheet, const struct view *view)
{
    struct found found[N_DEVICES];
    const size_t n = find_devices(view, found);
    const char *fault = n > 0 ? fault_of(view) : NULL;
    for (size_t i = 0; i < n; i++) {
        bool is_first = true;
        if (found[i].is_part)
            add_row(sheet, view->driver, &found[i], true, state_of(view, fault, found[i].device));
        for (size_t j = 0; j < n; j++) {
            if (j != i && same_gpu(view, &found[i], &found[j]) && is_before(&found[j], &found[i]))
                is_first = false;
        }
        if (is_first)
            add_row(sheet, view->driver, &found[i], false, state_of_gpu(view, fault, found, n, i));
    }
}

static int compare_rows(const void *a, const void *b)
{
    const struct oracle_row *left = a;
    const struct oracle_row *right = b;
    if (left->driver != right->driver)
        return left->driver < right->driver ? -1 : 1;
    if (left->is_partition != right->is_partition)
        return left->is_partition ? 1 : -1;
    return strcmp(left->name, right->name);
}

static void write_group(struct buf *text, const struct sheet *sheet, unsigned driver)
{
    int64_t n[N_STATES] = {0};
    int64_t total = 0;
    size_t n_rows = 0;
    for (size_t i = 0; i < sheet->n; i++) {
        n_rows += sheet->rows[i].driver == driver;
        if (sheet->rows[i].driver != driver || sheet->rows[i].is_partition)
            continue;
        total += sheet->rows[i].total;
        for (size_t s = 0; s < N_STATES; s++)
            n[s] += sheet->rows[i].n[s];
    }
    if (n_rows == 0)
        return;
    buf_printf(text, "%s: %" PRId64 " total", ORACLE_DRIVER[driver], total);
    static const char *const NAMES[] = {"allocated",  "free",    "tainted",    "blocked",
                                        "incomplete", "invalid", "partitioned"};
    for (size_t s = 0; s < N_STATES; s++)
        buf_printf(text, " %" PRId64 " %s", n[s], NAMES[s]);
    buf_printf(text, "\n");
    for (size_t i = 0; i < sheet->n; i++) {
        const struct oracle_row *row = &sheet->rows[i];
        if (row->driver == driver)
            buf_printf(text, "  %s '%s' %" PRId64 " bytes: %" PRId64 " %" PRId64 " %" PRId64 "\n",
                       row->is_partition ? "partition" : "GPU", row->name, row->memory_bytes,
                       row->total, row->n[ALLOCATED], row->n[FREE]);
    }
}

char *oracle_on_node(const struct oracle *oracle, unsigned place)
{
    struct sheet sheet = {.n = 0};
    struct buf text;
    for (unsigned driver = 0; driver < ORACLE_DRIVERS - 1; driver++) {
        for (unsigned pool = 0; pool < ORACLE_POOLS; pool++) {
            const struct view view = look(oracle, driver, pool, place);
            add_view(&sheet, &view);
        }
    }
    qsort(sheet.rows, sheet.n, sizeof *sheet.rows, compare_rows);
    buf_init(&text, BUF_UNBOUNDED);
    buf_printf(&text, "%s\n", ORACLE_PLACE[place]);
    for (unsigned driver = 0; driver < ORACLE_DRIVERS - 1; driver++)
        write_group(&text, &sheet, driver);
    return buf_take(&text);
}

char *oracle_seen_on_node(const struct devices *devices, unsigned place)
{
    size_t n = 0;
    const struct device_group *groups = devices_on_node(devices, ORACLE_PLACE[place], &n);
    struct buf text;
    buf_init(&text, BUF_UNBOUNDED);
    buf_printf(&text, "%s\n", ORACLE_PLACE[place]);
    for (size_t i = 0; i < n; i++) {
        const struct device_group *group = &groups[i];
        buf_printf(&text,
                   "%s: %" PRId64 " total %" PRId64 " allocated %" PRId64 " free %" PRId64
                   " tainted %" PRId64 " blocked %" PRId64 " incomplete %" PRId64
                   " invalid %" PRId64 " partitioned\n",
                   group->driver, group->total, group->allocated, group->free, group->tainted,
                   group->blocked, group->incomplete, group->invalid, group->partitioned);
        for (size_t m = 0; m < group->n_models; m++) {
            const struct device_model *model = &group->models[m];
            buf_printf(&text, "  %s '%s' %" PRId64 " bytes: %" PRId64 " %" PRId64 " %" PRId64 "\n",
                       model->is_partition ? "partition" : "GPU", model->name, model->memory_bytes,
                       model->total, model->allocated, model->free);
        }
    }
    return buf_take(&text);
}

/* ---- shares ---- */

static void add_shares(const struct view *view, const struct found *found,
                       struct oracle_shares *shares)
{
    const struct oracle_device *device = found->device;
    const bool is_partition = found->is_part;
    bool is_shared = false;
    for (size_t i = 0; i < ORACLE_CLAIMS; i++) {
        const struct oracle_claim *claim = &view->oracle->claims[i];
        for (unsigned r = 0; claim->is_there && claim->is_allocated && r < claim->n_results; r++) {
            if (claim->results[r].driver != view->driver || claim->results[r].pool != view->pool ||
                claim->results[r].name != device->name || claim->results[r].is_admin ||
                !claim->results[r].is_shared)
                continue;
            is_shared = true;
            shares->consumed[view->driver][is_partition] += claim->results[r].amount;
        }
    }
    shares->n[view->driver][is_partition] += is_shared;
}

struct oracle_shares oracle_shares(const struct oracle *oracle, unsigned place)
{
    struct oracle_shares shares = {0};
    for (unsigned driver = 0; driver < ORACLE_DRIVERS - 1; driver++) {
        for (unsigned pool = 0; pool < ORACLE_POOLS; pool++) {
            const struct view view = look(oracle, driver, pool, place);
            struct found found[N_DEVICES];
            const size_t n = find_devices(&view, found);
            for (size_t i = 0; i < n; i++)
                add_shares(&view, &found[i], &shares);
        }
    }
    return shares;
}

struct oracle_shares oracle_seen_shares(const struct devices *devices, unsigned place)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct oracle_shares shares = {0};
    size_t room = SIZE_MAX;
    const struct shared_devices seen =
        devices_shared_on(devices, ORACLE_PLACE[place], arena, &room);
    for (size_t i = 0; i < seen.n; i++) {
        const struct shared_device *device = &seen.items[i];
        const size_t driver = strcmp(device->driver, ORACLE_DRIVER[0]) != 0;
        int64_t *consumed = &shares.consumed[driver][device->is_partition];
        shares.n[driver][device->is_partition]++;
        for (size_t c = 0; c < device->status.n_consumed; c++)
            *consumed += strtoll(device->status.consumed[c], NULL, 10);
    }
    return shares;
}
