/* inventory_table: an Inventory as a table; see include/api/tables.h. It shows only GPUs; the JSON
 * has all resources, and the claims. */
#include "api/provenance.h"
#include "api/table.h"
#include "api/tables.h"
#include "api/text.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/table.h"
#include "types/quantity.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* ---- the table of nodes of the inventory ---- */

/* The cells of a row, in the order of the wide table. */
enum {
    LINE_NODE,
    LINE_MODEL,
    LINE_GPUS,
    LINE_USED,
    LINE_FREE,
    LINE_USABLE,
    LINE_STATE,
    LINE_RESOURCE,
    LINE_CPU,
    LINE_MEMORY,
    LINE_PODS,
    LINE_RESERVED_FOR,
    N_LINE_CELLS
};

struct node_lines;

struct line {
    const char *cells[N_LINE_CELLS];
    struct line *next;
};

struct node_lines {
    struct arena *arena;
    struct line *first, *last;
    size_t n;
};

/* Rows that differ in the node and its pods only. */
struct node_fold {
    const char *key;
    const struct line *first;
    size_t n;
    UT_hash_handle hh;
};

static struct node_lines *node_lines_new(struct arena *arena)
{
    struct node_lines *lines = ARENA_NEW(arena, struct node_lines);
    lines->arena = arena;
    return lines;
}

/* The cells are borrowed. */
static void node_lines_add(struct node_lines *lines, const char *const cells[N_LINE_CELLS])
{
    struct line *line = ARENA_NEW(lines->arena, struct line);
    memcpy(line->cells, cells, sizeof line->cells);
    if (lines->last)
        lines->last->next = line;
    else
        lines->first = line;
    lines->last = line;
    lines->n++;
}

static void write_all(const struct node_lines *lines, bool wide, struct buf *out)
{
    static const char *const HEADINGS[] = {"NODE",
                                           "MODEL",
                                           "GPUS",
                                           (TABLE_MAY_GO "USED"),
                                           "FREE",
                                           (TABLE_MAY_BE_TOLD "USABLE"),
                                           (TABLE_MAY_BE_TOLD "STATE"),
                                           (TABLE_MAY_BE_TOLD "RESOURCE"),
                                           "CPU",
                                           "MEMORY",
                                           "PODS",
                                           "RESERVED FOR",
                                           NULL};
    const char *headings[N_LINE_CELLS + 1];
    memcpy(headings, HEADINGS, sizeof headings);
    if (!wide)
        headings[LINE_CPU] = NULL;
    struct table *table = table_new(lines->arena, wide, headings);
    for (const struct line *line = lines->first; line; line = line->next) {
        const char *cells[N_LINE_CELLS];
        memcpy(cells, line->cells, sizeof cells);
        if (!wide)
            cells[LINE_FREE] = "";
        table_add(table, cells);
    }
    if (!table_is_empty(table))
        table_write(table, out);
}

static struct node_fold *find_fold(struct node_fold **folds, const struct line *line,
                                   struct arena *arena)
{
    struct node_fold *fold = NULL;
    const char *key = "";
    for (size_t i = LINE_MODEL; i < LINE_CPU; i++)
        key = arena_printf(arena, "%s%s\n", key, line->cells[i]);
    HASH_FIND_STR(*folds, key, fold);
    if (fold)
        return fold;
    fold = ARENA_NEW(arena, struct node_fold);
    *fold = (struct node_fold){.key = key, .first = line};
    HASH_ADD_KEYPTR(hh, *folds, fold->key, strlen(fold->key), fold);
    return fold;
}

static int compare_folds(const struct node_fold *a, const struct node_fold *b)
{
    if (a->n != b->n)
        return a->n > b->n ? -1 : 1;
    return strcmp(a->key, b->key);
}

static void write_folded(const struct node_lines *lines, struct buf *out)
{
    static const char *const HEADINGS[] = {"NODES",
                                           "MODEL",
                                           "GPUS",
                                           (TABLE_MAY_GO "USED"),
                                           "USABLE",
                                           (TABLE_MAY_BE_TOLD "STATE"),
                                           (TABLE_MAY_BE_TOLD "RESOURCE"),
                                           "WHICH",
                                           NULL};
    struct table *table = table_new(lines->arena, false, HEADINGS);
    struct node_fold *folds = NULL;
    for (const struct line *line = lines->first; line; line = line->next)
        find_fold(&folds, line, lines->arena)->n++;
    HASH_SORT(folds, compare_folds);
    for (const struct node_fold *fold = folds; fold; fold = fold->hh.next) {
        const char *const *cells = fold->first->cells;
        table_add(table,
                  (const char *[]){arena_printf(lines->arena, "%zu", fold->n), cells[LINE_MODEL],
                                   cells[LINE_GPUS], cells[LINE_USED], cells[LINE_USABLE],
                                   cells[LINE_STATE], cells[LINE_RESOURCE],
                                   text_first(cells[LINE_NODE], fold->n, lines->arena)});
    }
    HASH_CLEAR(hh, folds);
    table_write(table, out);
    buf_add_text(out, "\nNumbers are per node. ?wide=true lists each node and its pods.\n");
}

/* A wide table has all rows, and the pods by name. */
static void node_lines_write(const struct node_lines *lines, bool wide, struct buf *out)
{
    if (wide || lines->n < TABLE_FOLD_ROWS)
        write_all(lines, wide, out);
    else
        write_folded(lines, out);
}

/* ---- inventory table ---- */

static const char *state_of(const json_t *node, const json_t *gpus)
{
    const bool ready = json_is_true(json_object_get(node, "ready"));
    const bool cordoned = json_is_true(json_object_get(node, "unschedulable"));
    if (cordoned)
        return ready ? "cordoned" : "NotReady, cordoned";
    if (!ready)
        return "NotReady";
    if (json_object_get(node, "quarantine"))
        return text_member(node, "quarantine");
    return json_integer_value(json_object_get(gpus, "stranded")) > 0 ? "stranded" : "Ready";
}

static bool is_live(const json_t *inventory)
{
    return json_is_true(json_object_get(inventory, "live"));
}

/* "default/train-0 (2), default/train-1 (2)". held: the member of the pods with what they hold. */
static const char *pods_of(const json_t *pods, const char *held, const char *name_held,
                           struct arena *arena)
{
    struct name_list shown = {.text = ""};
    size_t i = 0;
    json_t *holder = NULL;
    json_array_foreach (pods, i, holder) {
        const json_t *n = json_object_get(json_object_get(holder, held), name_held);
        if (!n)
            continue;
        const char *name = NULL;
        if (!text_names_are_full(&shown))
            name = arena_printf(arena, "%s/%s (%lld)", text_member(holder, "namespace"),
                                text_member(holder, "pod"), (long long)json_integer_value(n));
        text_names_add(&shown, name, arena);
    }
    return text_names(&shown, arena);
}

/* GPU resources are those in the totals by model. */
static json_t *gpu_resources(const json_t *inventory)
{
    json_t *set = json_object();
    size_t i = 0;
    json_t *model = NULL;
    json_array_foreach (json_object_get(inventory, "models"), i, model)
        (void)json_object_set_new(set, text_member(model, "resource"), json_true());
    return set;
}

/* "T4-SHARED": spelled as in a pod's request, so that a share does not look like a whole GPU. */
static const char *model_of(const json_t *amounts, struct arena *arena)
{
    const char *sharing = text_member(amounts, "sharing");
    return arena_printf(arena, "%s%s%s", text_member(amounts, "model"), sharing[0] ? "-" : "",
                        sharing);
}

static const char *pods_with(const json_t *node, const char *list, const char *resource,
                             struct arena *arena)
{
    return pods_of(json_object_get(node, list), "gpus", resource, arena);
}

/* null while claims are unknown. */
static const char *number_or_unknown(const json_t *numbers, const char *key, struct arena *arena)
{
    if (json_is_null(json_object_get(numbers, key)))
        return "unknown";
    return text_number(numbers, key, arena);
}

/* The GPUs that claims may use, like the allocatable GPUs of a device plugin. */
static const char *usable_devices(const json_t *numbers, struct arena *arena)
{
    if (json_is_null(json_object_get(numbers, "free")))
        return "unknown";
    const json_int_t n = json_integer_value(json_object_get(numbers, "allocated")) +
                         json_integer_value(json_object_get(numbers, "free"));
    return arena_printf(arena, "%lld", (long long)n);
}

static json_int_t free_of(const json_t *node, const char *resource)
{
    return json_integer_value(
        json_object_get(json_object_get(json_object_get(node, "resources"), resource), "free"));
}

/* One row per model of the driver's devices. The pods are in the first, because a claim of theirs
 * may hold several models. Partitions are in the JSON only. */
static void add_devices(struct node_lines *lines, const json_t *node, const char *driver,
                        const json_t *group, struct arena *arena)
{
    const bool is_twice = json_is_true(json_object_get(group, "publishedTwice"));
    const char *held_by = pods_of(json_object_get(node, "holders"), "devices", driver, arena);
    const char *model = NULL;
    json_t *numbers = NULL;
    json_object_foreach (json_object_get(group, "models"), model, numbers) {
        const char *const cells[N_LINE_CELLS] = {
            [LINE_NODE] = text_member(node, "name"),
            [LINE_MODEL] = model,
            [LINE_GPUS] = usable_devices(numbers, arena),
            [LINE_USED] = number_or_unknown(numbers, "allocated", arena),
            [LINE_FREE] = number_or_unknown(numbers, "free", arena),
            [LINE_USABLE] = text_number(numbers, "usable", arena),
            [LINE_STATE] = state_of(node, numbers),
            [LINE_RESOURCE] = is_twice ? arena_printf(arena, "%s (not counted)", driver) : driver,
            [LINE_CPU] = text_cores(free_of(node, "cpu"), arena),
            [LINE_MEMORY] = text_gib(free_of(node, "memory"), arena),
            [LINE_PODS] = held_by,
            [LINE_RESERVED_FOR] = ""};
        node_lines_add(lines, cells);
        held_by = "";
    }
}

/* Returns whether the node has any. */
static bool add_resources(struct node_lines *lines, const json_t *node, const json_t *gpus,
                          struct arena *arena)
{
    const char *name = NULL;
    json_t *amounts = NULL;
    bool any = false;
    json_object_foreach (json_object_get(node, "resources"), name, amounts) {
        if (!json_object_get(gpus, name))
            continue;
        any = true;
        const char *const cells[N_LINE_CELLS] = {
            [LINE_NODE] = text_member(node, "name"),
            [LINE_MODEL] = model_of(amounts, arena),
            [LINE_GPUS] = text_number(amounts, "allocatable", arena),
            [LINE_USED] = text_number(amounts, "used", arena),
            [LINE_FREE] = text_number(amounts, "free", arena),
            [LINE_USABLE] = text_number(amounts, "usable", arena),
            [LINE_STATE] = state_of(node, amounts),
            [LINE_RESOURCE] = name,
            [LINE_CPU] = text_cores(free_of(node, "cpu"), arena),
            [LINE_MEMORY] = text_gib(free_of(node, "memory"), arena),
            [LINE_PODS] = pods_with(node, "holders", name, arena),
            [LINE_RESERVED_FOR] = pods_with(node, "reservations", name, arena)};
        node_lines_add(lines, cells);
    }
    return any;
}

static void write_nodes(const json_t *inventory, bool wide, struct arena *arena, struct buf *out)
{
    struct node_lines *lines = node_lines_new(arena);
    struct name_list bare = {.text = ""};
    json_auto_t *gpus = gpu_resources(inventory);
    size_t i = 0;
    json_t *node = NULL;
    json_array_foreach (json_object_get(inventory, "nodes"), i, node) {
        json_t *devices = json_object_get(node, "devices");
        const bool any = add_resources(lines, node, gpus, arena);
        const char *driver = NULL;
        json_t *group = NULL;
        json_object_foreach (devices, driver, group)
            add_devices(lines, node, driver, group, arena);
        if (!any && json_object_size(devices) == 0)
            text_names_add(&bare, text_member(node, "name"), arena);
    }
    node_lines_write(lines, wide, out);
    if (bare.n > 0)
        table_write_sentence(arena_printf(arena, "Without GPUs: %s.", text_names(&bare, arena)), 0,
                             out);
}

/* Sums a member over the models of whole GPUs; false: it is unknown of some. */
static bool sum_gpus(const json_t *inventory, const char *key, json_int_t *ret_sum)
{
    json_int_t sum = 0;
    size_t i = 0;
    json_t *model = NULL;
    json_array_foreach (json_object_get(inventory, "models"), i, model) {
        const json_t *n = json_object_get(model, key);
        if (strcmp(text_member(model, "unit"), "gpu") != 0)
            continue;
        if (!json_is_integer(n) || __builtin_add_overflow(sum, json_integer_value(n), &sum))
            return false;
    }
    *ret_sum = sum;
    return true;
}

/* "52 of 112 GPUs are usable; 5 are stranded, 11 on closed nodes, 44 in use" */
static void write_headline(const json_t *inventory, struct arena *arena, struct buf *out)
{
    static const struct {
        const char *key, *text;
    } OTHERS[] = {{"stranded", "stranded"},
                  {"closed", "on closed nodes"},
                  {"used", "in use"},
                  {"reserved", "reserved"}};
    json_int_t n = 0;
    json_int_t n_usable = 0;
    const char *others = "";
    if (!sum_gpus(inventory, "allocatable", &n) || !sum_gpus(inventory, "usable", &n_usable) ||
        n == 0)
        return;
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++) {
        json_int_t sum = 0;
        if (sum_gpus(inventory, OTHERS[i].key, &sum) && sum > 0)
            others =
                arena_printf(arena, "%s%s %lld %s%s", others, others[0] ? "," : ";", (long long)sum,
                             others[0]  ? ""
                             : sum == 1 ? "is "
                                        : "are ",
                             OTHERS[i].text);
    }
    table_write_sentence(arena_printf(arena, "%lld of %lld GPU%s %s usable%s", (long long)n_usable,
                                      (long long)n, n == 1 ? "" : "s", n == 1 ? "is" : "are",
                                      others),
                         0, out);
}

static void write_models(const json_t *inventory, bool wide, struct arena *arena, struct buf *out)
{
    static const char *const HEADINGS[] = {"MODEL",
                                           (TABLE_MAY_GO "NODES"),
                                           "GPUS",
                                           (TABLE_MAY_GO "USED"),
                                           (TABLE_MAY_BE_TOLD "USABLE"),
                                           "STRANDED",
                                           "CLOSED",
                                           "RESERVED",
                                           (TABLE_MAY_BE_TOLD "RESOURCE"),
                                           NULL};
    struct table *table = table_new(arena, wide, HEADINGS);
    size_t i = 0;
    json_t *model = NULL;
    json_array_foreach (json_object_get(inventory, "models"), i, model)
        table_add(table,
                  (const char *[]){text_member(model, "model"), text_number(model, "nodes", arena),
                                   number_or_unknown(model, "allocatable", arena),
                                   number_or_unknown(model, "used", arena),
                                   number_or_unknown(model, "usable", arena),
                                   number_or_unknown(model, "stranded", arena),
                                   number_or_unknown(model, "closed", arena),
                                   text_number(model, "reserved", arena),
                                   text_member(model, "resource")});
    if (i == 0)
        return;
    buf_add_text(out, "\n");
    table_write(table, out);
}

#define DOMAINS_SHOWN 10 /* of a level, unless the table is wide */

/* Of topology.levels, which the JSON has by level. */
static void write_domains(const json_t *inventory, bool wide, struct arena *arena, struct buf *out)
{
    static const char *const HEADINGS[] = {"LEVEL",     "DOMAIN",      "NODES",
                                           "FREE GPUS", "NODES WHOLE", NULL};
    struct table *table = table_new(arena, wide, HEADINGS);
    const char *level = "";
    size_t n_of_level = 0;
    size_t n_left_out = 0;
    size_t i = 0;
    json_t *domain = NULL;
    json_array_foreach (json_object_get(inventory, "domains"), i, domain) {
        n_of_level = strcmp(level, text_member(domain, "level")) == 0 ? n_of_level + 1 : 0;
        level = text_member(domain, "level");
        if (n_of_level >= DOMAINS_SHOWN && !wide)
            n_left_out++;
        else
            table_add(table, (const char *[]){level, text_domain(domain, arena),
                                              text_number(domain, "nodes", arena),
                                              text_number(domain, "freeGpus", arena),
                                              text_number(domain, "wholeNodes", arena)});
    }
    if (table_is_empty(table))
        return;
    buf_add_text(out, "\n");
    table_write(table, out);
    if (n_left_out > 0)
        table_write_sentence(
            arena_printf(arena, "%zu more domains with no more free GPUs.", n_left_out), 0, out);
}

/* "2 nvidia.com/gpu, 1 amd.com/gpu" */
static const char *gpus_of(const json_t *holder, struct arena *arena)
{
    struct name_list shown = {.text = ""};
    const char *resource = NULL;
    json_t *n = NULL;
    json_object_foreach (json_object_get(holder, "gpus"), resource, n)
        text_names_add(&shown,
                       arena_printf(arena, "%lld %s", (long long)json_integer_value(n), resource),
                       arena);
    return text_names(&shown, arena);
}

static void write_pods_without_node(const json_t *inventory, bool wide, struct arena *arena,
                                    struct buf *out)
{
    static const char *const HEADINGS[] = {"POD", "USES", "ON A NODE NOT IN THE INVENTORY", NULL};
    const json_t *pods = json_object_get(inventory, "podsWithoutNode");
    struct table *table = table_new(arena, wide, HEADINGS);
    size_t i = 0;
    json_t *pod = NULL;
    if (json_array_size(pods) == 0)
        return;
    json_array_foreach (pods, i, pod)
        table_add(table,
                  (const char *[]){arena_printf(arena, "%s/%s", text_member(pod, "namespace"),
                                                text_member(pod, "pod")),
                                   gpus_of(pod, arena), text_member(pod, "node")});
    buf_add_text(out, "\n");
    table_write(table, out);
}

static void write_problems(const json_t *inventory, bool wide, struct arena *arena, struct buf *out)
{
    static const char *const HEADINGS[] = {"PROBLEM", "NAME", "WHAT", NULL};
    const json_t *problems = json_object_get(inventory, "problems");
    struct table *table = table_new(arena, wide, HEADINGS);
    size_t i = 0;
    json_t *problem = NULL;
    if (json_array_size(problems) == 0)
        return;
    json_array_foreach (problems, i, problem)
        table_add(table,
                  (const char *[]){text_member(problem, "kind"), text_member(problem, "name"),
                                   text_member(problem, "what")});
    buf_add_text(out, "\n");
    table_write(table, out);
}

/* "40Gi" */
static const char *quantity_or_unknown(const json_t *amounts, const char *key, struct arena *arena)
{
    const json_t *amount = json_object_get(amounts, key);
    char text[32];
    if (!json_is_integer(amount))
        return "unknown";
    return arena_strdup(arena, quantity_bytes_text(json_integer_value(amount), text));
}

static void add_shared(struct table *table, const char *node, const char *driver, const char *model,
                       const json_t *shared, struct arena *arena)
{
    const char *capacity = NULL;
    json_t *amounts = NULL;
    if (json_integer_value(json_object_get(shared, "devices")) == 0)
        return;
    json_object_foreach (json_object_get(shared, "capacity"), capacity, amounts)
        table_add(table,
                  (const char *[]){node, driver, model, text_number(shared, "devices", arena),
                                   capacity, quantity_or_unknown(amounts, "total", arena),
                                   quantity_or_unknown(amounts, "used", arena),
                                   quantity_or_unknown(amounts, "free", arena)});
}

static void add_shared_of(struct table *table, const char *node, const json_t *devices,
                          struct arena *arena)
{
    static const char *const LISTS[] = {"models", "partitions"};
    const char *driver = NULL;
    const char *model = NULL;
    json_t *group = NULL;
    json_t *numbers = NULL;
    json_object_foreach ((json_t *)(uintptr_t)devices, driver, group) {
        for (size_t i = 0; i < sizeof LISTS / sizeof *LISTS; i++) {
            json_object_foreach (json_object_get(group, LISTS[i]), model, numbers)
                add_shared(table, node, driver, model, json_object_get(numbers, "shared"), arena);
        }
    }
}

/* The rest of devices that claims share. */
static void write_capacities(const json_t *inventory, bool wide, struct arena *arena,
                             struct buf *out)
{
    static const char *const HEADINGS[] = {"SHARED ON", "RESOURCE", "MODEL", "DEVICES", "CAPACITY",
                                           "TOTAL",     "USED",     "FREE",  NULL};
    struct table *table = table_new(arena, wide, HEADINGS);
    size_t i = 0;
    json_t *node = NULL;
    json_array_foreach (json_object_get(inventory, "nodes"), i, node)
        add_shared_of(table, text_member(node, "name"), json_object_get(node, "devices"), arena);
    add_shared_of(table, "several nodes", json_object_get(inventory, "devices"), arena);
    if (table_is_empty(table))
        return;
    buf_add_text(out, "\n");
    table_write(table, out);
}

/* Devices that several nodes may reach. */
static void write_devices_of_several(const json_t *inventory, bool wide, struct arena *arena,
                                     struct buf *out)
{
    static const char *const HEADINGS[] = {
        "DEVICES OF SEVERAL NODES", "MODEL", "TOTAL", "USED", "FREE", NULL};
    struct table *table = table_new(arena, wide, HEADINGS);
    const char *driver = NULL;
    const char *model = NULL;
    json_t *group = NULL;
    json_t *numbers = NULL;
    json_t *devices = json_object_get(inventory, "devices");
    if (json_object_size(devices) == 0)
        return;
    json_object_foreach (devices, driver, group) {
        json_object_foreach (json_object_get(group, "models"), model, numbers)
            table_add(table, (const char *[]){driver, model, usable_devices(numbers, arena),
                                              number_or_unknown(numbers, "allocated", arena),
                                              number_or_unknown(numbers, "free", arena)});
    }
    buf_add_text(out, "\n");
    table_write(table, out);
}

static const char *state_of_kind(const json_t *kind)
{
    if (!json_is_true(json_object_get(kind, "synced")))
        return "not listed yet";
    return json_is_true(json_object_get(kind, "stale")) ? "stale" : "followed";
}

/* Writes the source; for a live inventory also the state of each kind. */
static void write_source(const json_t *inventory, bool wide, struct arena *arena, struct buf *out)
{
    static const char *const HEADINGS[] = {"KIND", "STATE", "SECONDS OLD", "WHY", NULL};
    struct table *table = table_new(arena, wide, HEADINGS);
    size_t i = 0;
    json_t *kind = NULL;
    const json_t *role = json_object_get(inventory, "role");
    buf_printf(out, "\n%s\n", text_member(inventory, "source"));
    if (json_is_string(role))
        buf_printf(out, "this replica: %s\n", json_string_value(role));
    if (!is_live(inventory))
        return;
    json_array_foreach (json_object_get(inventory, "freshness"), i, kind)
        table_add(table, (const char *[]){text_member(kind, "kind"), state_of_kind(kind),
                                          text_number(kind, "ageSeconds", arena),
                                          text_member(kind, "why")});
    table_write(table, out);
}

void tables_write_inventory(const json_t *answer, bool wide, struct arena *arena, struct buf *out)
{
    provenance_write_warning(answer, arena, out);
    text_write_warnings(answer, arena, out);
    write_headline(answer, arena, out);
    write_nodes(answer, wide, arena, out);
    write_models(answer, wide, arena, out);
    write_domains(answer, wide, arena, out);
    write_devices_of_several(answer, wide, arena, out);
    write_capacities(answer, wide, arena, out);
    write_pods_without_node(answer, wide, arena, out);
    text_write_reports(json_object_get(answer, "nodes"), "name", wide, arena, out);
    write_problems(answer, wide, arena, out);
    write_source(answer, wide, arena, out);
}
