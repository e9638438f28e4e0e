/*
 * gpu_units: what one unit of each GPU resource of a node is: a whole GPU, a share or a slice, and
 * its memory. The policy's models.units says which labels tell it (types/gpu_label.h).
 *
 * Two facts are built in, as they are names and no labels: NVIDIA's products end in -SHARED or
 * contain -MIG-, and a device plugin that renames shares appends ".shared" to the resource.
 */
#include "base/mem.h"
#include "ledger/ledger.h"
#include "ledger/nodes/node_index.h"
#include "types/quantity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SHARES ".shared"
#define VENDOR_OF_PRODUCTS "nvidia.com/"
#define PRODUCT_LABEL "nvidia.com/gpu.product"
#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)
/* No GPU has less or more memory; the largest of 2026 have 288 GB. */
#define LEAST_MEMORY (256 * MIB)
#define MOST_MEMORY (1024 * GIB)

/* A resource of a node while its unit is found. */
struct unit_search {
    const struct policy *policy;
    const struct node_facts *facts;
    const struct node_traits *traits;
    const struct gpu_kind *kind; /* the resource's */
    const char *resource;
    size_t longest_pattern;
};

static bool ends_in(const char *text, const char *end)
{
    const size_t len = strlen(text);
    const size_t end_len = strlen(end);
    return len >= end_len && strcasecmp(text + len - end_len, end) == 0;
}

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* ---- rows ---- */

/* The length of the longest pattern with '*' that matches; shorter ones do not apply: those of
 * nvidia.com/mig-* say what such a slice is, and those of nvidia.com/ are of GPUs. */
static size_t longest_pattern(const struct policy *policy, const char *resource)
{
    size_t longest = 0;
    for (size_t i = 0; i < policy->n_units; i++) {
        const char *pattern = policy->units[i].resource;
        if (ends_in(pattern, "*") && strlen(pattern) > longest &&
            policy_resource_matches(pattern, resource))
            longest = strlen(pattern);
    }
    return longest;
}

/* Iterates over the rows of that kind for the resource: NULL to NULL. */
static const struct gpu_label *next_row(const struct unit_search *search, enum gpu_label_says says,
                                        const struct gpu_label *row)
{
    const struct gpu_label *end = search->policy->units + search->policy->n_units;
    for (row = row ? row + 1 : search->policy->units; row < end; row++) {
        if (row->says == says && policy_resource_matches(row->resource, search->resource) &&
            (!ends_in(row->resource, "*") || strlen(row->resource) == search->longest_pattern))
            return row;
    }
    return NULL;
}

/* With several vendors, a provider's label may be about another one. */
static bool is_about(const struct node_traits *traits, const struct gpu_kind *kind, const char *key)
{
    return traits->n_others == 0 || gpu_kind_is_named_by(traits, kind, key);
}

/* The first label of the row after `label`: NULL to NULL. */
static const struct label *next_label(const struct unit_search *search, const struct gpu_label *row,
                                      const struct label *label)
{
    const struct label_view *view = &search->traits->view;
    const struct label *end = view->labels + view->n_labels;
    const bool is_pattern = strchr(row->label, '*') != NULL;
    for (label = label ? label + 1 : view->labels; label < end; label++) {
        if ((is_pattern ? gpu_label_has_key(row, search->resource, label->key)
                        : strcmp(row->label, label->key) == 0) &&
            is_about(search->traits, search->kind, label->key))
            return label;
    }
    return NULL;
}

/* The sum of the row's labels; 0: there is none. */
static int64_t number_of(const struct unit_search *search, const struct gpu_label *row,
                         const char **ret_key)
{
    int64_t sum = 0;
    for (const struct label *label = NULL; (label = next_label(search, row, label)) != NULL;) {
        int64_t n = 0;
        if (quantity_whole(label->value, &n, NULL) < 0 || n <= 0 ||
            __builtin_add_overflow(sum, n, &sum))
            continue;
        *ret_key = label->key;
    }
    return sum;
}

/* ---- whole GPUs or parts ---- */

static int64_t amount_of(const struct amount *amounts, size_t n, const char *resource)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(amounts[i].resource, resource) == 0)
            return amounts[i].amount;
    }
    return 0;
}

/* What the node offers: a GPU that is sick now is still there. */
static int64_t offered(const struct node_facts *facts, const char *resource)
{
    const int64_t capacity = amount_of(facts->capacity, facts->n_capacity, resource);
    const int64_t allocatable = amount_of(facts->allocatable, facts->n_allocatable, resource);
    return capacity > allocatable ? capacity : allocatable;
}

/* The shares have a name of their own, so the labels describe those, and these units are whole. */
static bool has_renamed_shares(const struct unit_search *search)
{
    char name[512];
    (void)snprintf(name, sizeof name, "%s" SHARES, search->resource);
    return offered(search->facts, name) > 0;
}

static bool is_overruled(const struct unit_search *search, const struct gpu_label *row)
{
    const struct label_view *view = &search->traits->view;
    const char *replicas = labels_find(view->labels, view->n_labels, row->replicas);
    return row->replicas[0] && replicas && strcmp(replicas, "1") == 0;
}

static bool is_said_to_be_shared(const struct unit_search *search)
{
    const char *key = NULL;
    for (const struct gpu_label *row = NULL; (row = next_row(search, GPU_LABEL_REPLICAS, row));) {
        if (number_of(search, row, &key) > 1)
            return true;
    }
    for (const struct gpu_label *row = NULL; (row = next_row(search, GPU_LABEL_STRATEGY, row));) {
        const struct label *label = next_label(search, row, NULL);
        if (label && !gpu_label_is_whole(row, label->value) && !is_overruled(search, row))
            return true;
    }
    return false;
}

/* The value of the first label that names a part; NULL: none. */
static const char *find_partition(const struct unit_search *search)
{
    for (const struct gpu_label *row = NULL; (row = next_row(search, GPU_LABEL_PARTITION, row));) {
        const struct label *label = next_label(search, row, NULL);
        if (label && !gpu_label_is_whole(row, label->value))
            return label->value;
    }
    return NULL;
}

/* The model may come from another label than the product, which the policy lists first. */
static const char *product_of(const struct unit_search *search)
{
    const struct label_view *view = &search->traits->view;
    const char *product = labels_find(view->labels, view->n_labels, PRODUCT_LABEL);
    return product ? product : search->kind->value;
}

static void name_partition(struct gpu_unit *unit, const char *name)
{
    (void)snprintf(unit->partition, sizeof unit->partition, "%s", name);
}

static void read_product(const struct unit_search *search, struct gpu_unit *unit)
{
    const char *product = product_of(search);
    const enum gpu_sharing sharing = search->kind->model.sharing;
    if (!begins_with(unit->resource, VENDOR_OF_PRODUCTS))
        return;
    unit->is_slice = sharing == GPU_MIG_SLICED || strstr(product, "-MIG-") != NULL;
    unit->is_shared = sharing == GPU_TIME_SHARED || ends_in(product, "-SHARED");
    if (unit->is_slice)
        name_partition(unit, search->kind->model.mig_profile);
}

/* ".10gb" in "nvidia.com/mig-1g.10gb" and "1g.10gb+me": 10; 0: no size. */
static int64_t size_in(const char *profile)
{
    for (const char *dot = profile; (dot = strchr(dot, '.')) != NULL; dot++) {
        char *end = NULL;
        const long gb = strtol(dot + 1, &end, 10);
        if (end > dot + 1 && gb > 0 && gb < 10000 && strncasecmp(end, "gb", 2) == 0)
            return gb;
    }
    return 0;
}

static void find_parts(const struct unit_search *search, struct gpu_unit *unit)
{
    const char *partition = find_partition(search);
    read_product(search, unit);
    if (partition) {
        /* What has no size of memory in its name is no MIG slice, but a share of the GPU. */
        unit->is_slice |= size_in(partition) > 0;
        unit->is_shared |= size_in(partition) == 0;
        name_partition(unit, partition);
    }
    if (!has_renamed_shares(search))
        unit->is_shared |= is_said_to_be_shared(search);
}

/* ---- how many there are ---- */

static bool is_same_domain(const char *a, const char *b)
{
    const size_t len = strcspn(a, "/");
    return len == strcspn(b, "/") && strncmp(a, b, len) == 0;
}

/* The highest count. Those below it are of one of several models. */
struct unit_count {
    int64_t n;
    const char *label;
    bool is_agreed; /* by labels of two sources */
};

static struct unit_count find_count(const struct unit_search *search)
{
    struct unit_count count = {.label = ""};
    for (const struct gpu_label *row = NULL; (row = next_row(search, GPU_LABEL_COUNT, row));) {
        const char *key = "";
        const int64_t n = number_of(search, row, &key);
        if (n > count.n)
            count = (struct unit_count){n, key, false};
        else if (n > 0 && n == count.n && !is_same_domain(key, count.label))
            count.is_agreed = true;
    }
    return count;
}

/* More units than GPUs are shares, or GPUs of a second model, which GPU feature discovery does not
 * count. A second source that counts all GPUs of the machine decides. */
static void check_count(const struct unit_search *search, struct gpu_unit *unit)
{
    const int64_t n = offered(search->facts, unit->resource);
    const struct unit_count count = find_count(search);
    if (count.n == 0 || n <= count.n || unit->is_shared || unit->is_slice)
        return;
    if (count.is_agreed) {
        unit->is_shared = true;
        return;
    }
    unit->n_offered = n;
    unit->n_counted = count.n;
    unit->count_label = count.label;
}

/* ---- memory ---- */

/* should_be: by the model's name; most: of its chip; 0: unknown. */
static bool is_possible(int64_t bytes, int64_t should_be, int64_t most)
{
    if (should_be > 0)
        return bytes >= should_be - should_be / 4 && bytes <= should_be + should_be / 4;
    return bytes >= LEAST_MEMORY && bytes <= (most > 0 ? most + most / 4 : MOST_MEMORY);
}

/* With several vendors, the row must be for a resource of this one. */
static bool is_for(const struct node_traits *traits, const struct gpu_label *row,
                   const struct gpu_kind *kind)
{
    return traits->n_others == 0 ||
           (node_traits_gpus(traits, row->resource) == kind && is_about(traits, kind, row->label));
}

/* The number times the unit's bytes; 0: too large. */
static int64_t times(int64_t number, int64_t unit)
{
    int64_t bytes = 0;
    return __builtin_mul_overflow(number, unit, &bytes) ? 0 : bytes;
}

/* The bytes of "81559", "288G" or "16160MiB": in the value's unit, in that of the row, else in the
 * one that makes a possible size. 0: none does. */
static int64_t read_memory(const char *value, const struct gpu_label *row, int64_t should_be,
                           int64_t most)
{
    static const char *const UNITS[] = {"B", "Ki", "Mi", "Gi"};
    char *end = NULL;
    const int64_t number = strtoll(value, &end, 10);
    const int64_t own = *end ? gpu_label_unit_bytes(end) : 0;
    int64_t bytes = times(number, own ? own : gpu_label_unit_bytes(row->unit));
    if (end == value || number <= 0 || (*end && !own))
        return 0;
    if (is_possible(bytes, should_be, most))
        return bytes;
    /* A virtual GPU may have little, but not in a unit that is guessed. */
    for (size_t i = 0; i < sizeof UNITS / sizeof *UNITS && !own; i++) {
        bytes = times(number, gpu_label_unit_bytes(UNITS[i]));
        if (is_possible(bytes, should_be, most) && bytes >= most / 4)
            return bytes;
    }
    return 0;
}

/* A part of unknown size: labels of others than its vendor are of the whole GPU. */
static bool is_of_whole(const struct gpu_unit *unit, const char *label, int64_t should_be)
{
    return unit->partition[0] && should_be == 0 && !gpu_kinds_is_of_vendor(label, unit->resource);
}

/* What the labels of the rows say; ret_wrong: the first whose value is impossible. */
static int64_t memory_by_labels(const struct unit_search *search, const struct gpu_unit *unit,
                                int64_t should_be, int64_t most, const char **ret_wrong)
{
    for (const struct gpu_label *row = NULL; (row = next_row(search, GPU_LABEL_MEMORY, row));) {
        const struct label *label = next_label(search, row, NULL);
        if (!label || is_of_whole(unit, label->key, should_be))
            continue;
        const char *value = gpu_label_value(row, label->key, label->value);
        const int64_t bytes = read_memory(value, row, should_be, most);
        if (bytes > 0)
            return bytes;
        if (!**ret_wrong && strspn(value, "0") != strlen(value))
            *ret_wrong = label->key;
    }
    return 0;
}

static void find_memory(const struct unit_search *search, struct gpu_unit *unit)
{
    const char *wrong = "";
    const char *part = unit->partition[0] ? unit->partition : unit->resource;
    const bool is_part = unit->partition[0] || size_in(part) > 0;
    const int64_t of_name =
        is_part ? size_in(part) * GIB : gpu_model_memory_bytes(&search->kind->model);
    const int64_t most = is_part ? 0 : gpu_model_most_memory_bytes(&search->kind->model);
    unit->memory_bytes = memory_by_labels(search, unit, of_name, most, &wrong);
    if (unit->memory_bytes == 0)
        unit->memory_bytes = of_name;
    /* Labels of the whole GPU are right, too. */
    if (!unit->partition[0])
        unit->memory_label = wrong;
    unit->has_own_memory = unit->memory_bytes > 0;
    unit->is_part = is_part;
}

int64_t gpu_units_memory_by_labels(const struct node_traits *traits, const struct gpu_kind *kind)
{
    const struct policy *policy = traits->view.policy;
    const int64_t of_name = gpu_model_memory_bytes(&kind->model);
    const int64_t most = gpu_model_most_memory_bytes(&kind->model);
    for (size_t i = 0; i < policy->n_units; i++) {
        const struct gpu_label *row = &policy->units[i];
        const char *value =
            row->says == GPU_LABEL_MEMORY && is_for(traits, row, kind)
                ? labels_find(traits->view.labels, traits->view.n_labels, row->label)
                : NULL;
        const int64_t bytes = value ? read_memory(value, row, of_name, most) : 0;
        if (bytes > 0)
            return bytes;
    }
    return 0;
}

/* ---- all of a node ---- */

static bool is_listed(const struct gpu_unit *units, size_t n, const char *resource)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(units[i].resource, resource) == 0)
            return true;
    }
    return false;
}

/* search: of any resource. */
static void add_units(struct string_table *strings, struct unit_search *search,
                      const struct amount *amounts, size_t n_amounts, struct gpu_units *units)
{
    for (size_t i = 0; i < n_amounts; i++) {
        const char *resource = amounts[i].resource;
        if (!policy_is_gpu_resource(search->policy, resource) ||
            is_listed(units->items, units->n, resource))
            continue;
        units->items = mem_grow(units->items, units->n + 1, sizeof *units->items);
        struct gpu_unit *unit = &units->items[units->n++];
        *unit = (struct gpu_unit){.resource = string_table_intern(strings, resource),
                                  .count_label = "",
                                  .memory_label = ""};
        search->resource = unit->resource;
        search->kind = node_traits_gpus(search->traits, resource);
        search->longest_pattern = longest_pattern(search->policy, resource);
        if (!ends_in(resource, SHARES) && size_in(resource) == 0) {
            find_parts(search, unit);
            check_count(search, unit);
        }
        find_memory(search, unit);
    }
}

static int compare_units(const void *a, const void *b)
{
    return strcmp(((const struct gpu_unit *)a)->resource, ((const struct gpu_unit *)b)->resource);
}

struct gpu_units gpu_units_find(struct cluster *cluster, const struct node_facts *facts,
                                const struct node_traits *traits)
{
    struct string_table *strings = &cluster->shapes->strings;
    struct unit_search search = {.policy = cluster->policy, .facts = facts, .traits = traits};
    struct gpu_units units = {NULL, 0};
    add_units(strings, &search, facts->allocatable, facts->n_allocatable, &units);
    add_units(strings, &search, facts->capacity, facts->n_capacity, &units);
    if (units.n > 1) /* whatever the order of the facts, they are equal */
        qsort(units.items, units.n, sizeof *units.items, compare_units);
    return units;
}

struct gpu_units gpu_units_copy(struct string_table *strings, const struct gpu_units *of)
{
    struct gpu_units copy = {MEM_ARRAY(struct gpu_unit, of->n), of->n};
    for (size_t i = 0; i < of->n; i++) {
        copy.items[i] = of->items[i];
        copy.items[i].resource = string_table_intern(strings, of->items[i].resource);
    }
    return copy;
}

void gpu_units_free(struct string_table *strings, struct gpu_units *units)
{
    for (size_t i = 0; i < units->n; i++)
        string_table_unref(strings, units->items[i].resource);
    free(units->items);
}

bool gpu_units_equal(const struct gpu_units *a, const struct gpu_units *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++) {
        const struct gpu_unit *one = &a->items[i];
        const struct gpu_unit *other = &b->items[i];
        if (one->resource != other->resource || one->is_shared != other->is_shared ||
            one->is_slice != other->is_slice || one->n_offered != other->n_offered)
            return false;
    }
    return true;
}
