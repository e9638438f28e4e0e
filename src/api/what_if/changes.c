/* changes: see changes.h. */
#include "api/what_if/changes.h"
#include "base/dns_name.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "formats/json_values.h"
#include "ledger/edit.h"
#include "ledger/quarantine.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const char *const KINDS[N_CHANGES] = {
    [CHANGE_ADD_NODES] = "addNodes",     [CHANGE_DRAIN] = "drain",
    [CHANGE_CORDON] = "cordon",          [CHANGE_LIFT] = "lift",
    [CHANGE_REMOVE_PODS] = "removePods", [CHANGE_QUOTA] = "quota",
    [CHANGE_PLACEMENT] = "placement",
};

#define KINDS_TEXT "addNodes, drain, cordon, lift, removePods, quota or placement"

/* ---- reading ---- */

struct change_reader {
    struct arena *arena;
    struct change_list list;
    size_t n_names, n_nodes, n_of_policy;
};

static int read_add(struct change_reader *reader, json_t *value, struct asked_change *change,
                    struct err *err)
{
    int64_t count = 1;
    const char *like = NULL;
    const char *key = NULL;
    json_t *member = NULL;
    if (!json_is_object(value))
        return err_set(err, EINVAL, ": is %s, should be {\"like\": NODE, \"count\": N}",
                       json_type_text(value));
    json_object_foreach (value, key, member) {
        if (strcmp(key, "like") != 0 && strcmp(key, "count") != 0)
            return err_set(err, EINVAL, ".%.60s: is unknown, should be like or count", key);
    }
    if (json_get_string(value, "like", &like, err) < 0 ||
        json_get_integer(value, "count", &count, err) < 0) {
        err_prefix(err, ".");
        return -EINVAL;
    }
    if (!like || !like[0])
        return err_set(err, EINVAL, ".like: is missing, should be the name of a node");
    if (count < 1)
        return err_set(err, EINVAL, ".count: is %" PRId64 ", should be at least 1", count);
    if ((uint64_t)count > CHANGES_NODES_MAX - reader->n_nodes)
        return err_set(err, E2BIG, ".count: the request adds more than %zu nodes",
                       CHANGES_NODES_MAX);
    reader->n_nodes += (size_t)count;
    change->like = arena_strdup(reader->arena, like);
    change->count = (size_t)count;
    return 0;
}

/* NAMESPACE/NAME */
static bool is_pod_name(const char *text)
{
    const char *slash = strchr(text, '/');
    return slash && slash != text && slash[1];
}

static int read_name(enum change_kind kind, const json_t *item, struct arena *arena,
                     const char **ret_name, struct err *err)
{
    const char *text = json_string_value(item);
    const bool is_pod = kind == CHANGE_REMOVE_PODS;
    if (!text || !text[0] || (is_pod && !is_pod_name(text)))
        return err_set(err, EINVAL, ": is %s, should be %s",
                       text && text[0] ? arena_printf(arena, "\"%.60s\"", text)
                                       : json_type_text(item),
                       is_pod ? "\"NAMESPACE/NAME\" of a pod" : "the name of a node");
    *ret_name = arena_strdup(arena, text);
    return 0;
}

static int read_names(struct change_reader *reader, json_t *value, struct asked_change *change,
                      struct err *err)
{
    const size_t n = json_array_size(value);
    const char **names = NULL;
    if (n == 0)
        return err_set(err, EINVAL, ": is %s, should be an array of names",
                       json_is_array(value) ? "empty" : json_type_text(value));
    if (n > CHANGES_NAMES_MAX - reader->n_names)
        return err_set(err, E2BIG, ": the request names more than %zu objects", CHANGES_NAMES_MAX);
    names = ARENA_ARRAY(reader->arena, const char *, n);
    for (size_t i = 0; i < n; i++) {
        int r = read_name(change->kind, json_array_get(value, i), reader->arena, &names[i], err);
        if (r < 0) {
            err_prefix(err, "[%zu]", i);
            return r;
        }
    }
    reader->n_names += n;
    change->names = names;
    change->n_names = n;
    return 0;
}

static int check_quota(json_t *value, struct err *err)
{
    const char *name = NULL;
    const char *key = NULL;
    json_t *member = NULL;
    json_object_foreach (value, key, member) {
        if (strcmp(key, "name") != 0 && strcmp(key, "limits") != 0)
            return err_set(err, EINVAL, ".%.60s: is unknown, should be name or limits", key);
    }
    if (json_get_string(value, "name", &name, err) < 0) {
        err_prefix(err, ".");
        return -EINVAL;
    }
    if (!name || !name[0])
        return err_set(err, EINVAL, ".name: is missing, should be the name of a quota");
    if (!json_member(value, "limits"))
        return err_set(err, EINVAL, ".limits: is missing, should be limits as in the policy file");
    return 0;
}

/* The policy's reader checks the values. */
static int read_of_policy(struct change_reader *reader, json_t *value, struct asked_change *change,
                          struct err *err)
{
    const bool is_quota = change->kind == CHANGE_QUOTA;
    if (!json_is_object(value) || json_object_size(value) == 0)
        return err_set(err, EINVAL, ": is %s, should be %s",
                       json_is_object(value) ? "empty" : json_type_text(value),
                       is_quota ? "{\"name\": QUOTA, \"limits\": [...]}"
                                : "an object as `placement` in the policy file");
    if (++reader->n_of_policy > CHANGES_POLICY_MAX)
        return err_set(err, E2BIG, ": the request changes the policy more than %zu times",
                       CHANGES_POLICY_MAX);
    change->values = json_incref(value);
    return is_quota ? check_quota(value, err) : 0;
}

static int read_value(struct change_reader *reader, json_t *value, struct asked_change *change,
                      struct err *err)
{
    if (change->kind == CHANGE_ADD_NODES)
        return read_add(reader, value, change, err);
    if (change->kind == CHANGE_QUOTA || change->kind == CHANGE_PLACEMENT)
        return read_of_policy(reader, value, change, err);
    return read_names(reader, value, change, err);
}

static int read_kind(const char *key, struct asked_change *change, struct err *err)
{
    struct nearest nearest = {.asked = key, .least = SIZE_MAX};
    for (size_t kind = 0; kind < N_CHANGES; kind++) {
        if (strcmp(KINDS[kind], key) == 0) {
            change->kind = (enum change_kind)kind;
            return 0;
        }
        (void)nearest_try(&nearest, KINDS[kind]);
    }
    if (nearest.found)
        return err_set(err, EINVAL, ".%.60s: is unknown; did you mean %s?", key, nearest.found);
    return err_set(err, EINVAL, ".%.60s: is unknown, should be " KINDS_TEXT, key);
}

static int read_change(struct change_reader *reader, json_t *item, struct asked_change *change,
                       struct err *err)
{
    void *first = json_object_iter(item);
    if (json_is_object(item) && json_object_size(item) != 1)
        return err_set(err, EINVAL, ": has %zu members, should have one: " KINDS_TEXT,
                       json_object_size(item));
    if (!first)
        return err_set(err, EINVAL, ": is %s, should be an object with one member: " KINDS_TEXT,
                       json_type_text(item));
    const char *key = json_object_iter_key(first);
    json_t *value = json_object_iter_value(first);
    int r = read_kind(key, change, err);
    if (r < 0)
        return r;
    r = read_value(reader, value, change, err);
    if (r < 0)
        err_prefix(err, ".%s", key);
    return r;
}

bool changes_has_kind(const char *key)
{
    for (size_t kind = 0; kind < N_CHANGES; kind++) {
        if (strcmp(KINDS[kind], key) == 0)
            return true;
    }
    return false;
}

int changes_read(const json_t *changes, struct arena *arena, struct change_list *ret_list,
                 struct err *err)
{
    struct change_reader reader = {.arena = arena};
    const size_t n = json_array_size(changes);
    if (changes && !json_is_array(changes))
        return err_set(err, EINVAL, "changes: is %s, should be an array", json_type_text(changes));
    if (n > CHANGES_MAX)
        return err_set(err, E2BIG, "changes: are %zu, should be at most %zu", n, CHANGES_MAX);
    reader.list.items = ARENA_ARRAY(arena, struct asked_change, n);
    int r = 0;
    while (r == 0 && reader.list.n < n) {
        const size_t i = reader.list.n++;
        r = read_change(&reader, json_array_get(changes, i), &reader.list.items[i], err);
        if (r < 0)
            err_prefix(err, "changes[%zu]", i);
    }
    *ret_list = reader.list;
    return r;
}

void changes_fini(struct change_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        json_decref(list->items[i].values);
        json_decref(list->items[i].effect);
    }
}

/* ---- applying ---- */

void applied_init(struct applied *ret_applied, struct arena *arena)
{
    *ret_applied =
        (struct applied){.arena = arena, .changes = json_array(), .max_bytes = CHANGES_BYTES_MAX};
}

void applied_fini(struct applied *applied)
{
    HASH_CLEAR(hh, applied->displaced);
    HASH_CLEAR(hh, applied->gone);
    HASH_CLEAR(hh, applied->models);
    if (applied->budgets)
        met_budgets_free(applied->budgets);
    json_decref(applied->changes);
}

static int miss_node(const struct cluster *ledger, const char *name, struct err *err)
{
    struct nearest nearest = {.asked = name, .least = SIZE_MAX};
    for (const struct node *node = cluster_next_node(ledger, NULL); node;
         node = cluster_next_node(ledger, node))
        (void)nearest_try(&nearest, node_name(node));
    if (nearest.found)
        return err_set(err, ENOENT, "there is no node %.253s; did you mean %s?", name,
                       nearest.found);
    return err_set(err, ENOENT, "there is no node %.253s (GET /v1/inventory lists them)", name);
}

static const char *pod_text(const struct pod *pod, struct arena *arena)
{
    return arena_printf(arena, "%s/%s", pod->namespace_, pod->name);
}

static int miss_pod(const struct applied *applied, const struct cluster *ledger, const char *name,
                    struct err *err)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct nearest nearest = {.asked = name, .least = SIZE_MAX};
    for (const struct pod *pod = cluster_next_pod(ledger, NULL); pod;
         pod = cluster_next_pod(ledger, pod)) {
        struct arena *scratch CLEANUP(arena_free_ptr) = arena_new();
        const char *known = pod_text(pod, scratch);
        if (nearest_try(&nearest, known))
            nearest.found = arena_strdup(arena, known);
    }
    for (const struct gone_pod *gone = applied->gone; gone; gone = gone->hh.next)
        (void)nearest_try(&nearest, gone->name);
    if (nearest.found)
        return err_set(err, ENOENT, "there is no pod %.500s; did you mean %s?", name,
                       nearest.found);
    return err_set(err, ENOENT, "there is no pod %.500s", name);
}

/* Copies what it needs, as the pod may be freed. */
static void displace(struct applied *applied, const struct pod *pod)
{
    struct arena *arena = applied->arena;
    struct displaced *displaced = ARENA_NEW(arena, struct displaced);
    *displaced = (struct displaced){
        .uid = arena_strdup(arena, pod->uid),
        .namespace_ = arena_strdup(arena, pod->namespace_),
        .name = arena_strdup(arena, pod->name),
        .controller = pod->controller ? arena_strdup(arena, pod->controller) : NULL,
        .from = arena_strdup(arena, pod->node_name),
        .eviction = met_budgets_evict(applied->budgets, pod)};
    HASH_ADD_KEYPTR(hh, applied->displaced, displaced->uid, strlen(displaced->uid), displaced);
}

/* A later change may remove it, too. */
static void remove_drained(struct applied *applied, struct cluster *ledger, const struct pod *pod)
{
    struct gone_pod *gone = ARENA_NEW(applied->arena, struct gone_pod);
    gone->name = pod_text(pod, applied->arena);
    gone->uid = arena_strdup(applied->arena, pod->uid);
    HASH_ADD_KEYPTR(hh, applied->gone, gone->name, strlen(gone->name), gone);
    edit_remove(ledger, pod->uid);
}

/* The pods of a drained node. */
struct drained {
    size_t n_evicted, n_stay, n_leaving, n_bare;
};

/* Pods that are being deleted are gone when the drain is over. Those without a controller, too. */
static void drain_pod(struct applied *applied, struct cluster *ledger, const struct pod *pod,
                      struct drained *drained)
{
    if (edit_stays(pod)) {
        drained->n_stay++;
        return;
    }
    if (pod->terminating) {
        drained->n_leaving++;
        remove_drained(applied, ledger, pod);
        return;
    }
    const bool is_bare = !pod->controller;
    displace(applied, pod);
    drained->n_evicted++;
    drained->n_bare += is_bare;
    if (is_bare)
        remove_drained(applied, ledger, pod);
    else
        edit_evict(ledger, pod->uid);
}

static struct drained drain(struct applied *applied, struct cluster *ledger,
                            const struct node *node)
{
    struct drained drained = {0};
    const struct pod *next = node_next_pod(node, NULL);
    for (const struct pod *pod = next; pod; pod = next) {
        next = node_next_pod(node, pod);
        drain_pod(applied, ledger, pod, &drained);
    }
    edit_cordon(ledger, node_name(node));
    return drained;
}

static int drain_node(struct applied *applied, struct cluster *ledger, const char *name,
                      struct err *err)
{
    const struct node *node = cluster_find_node(ledger, name);
    if (!node)
        return miss_node(ledger, name, err);
    const struct drained drained = drain(applied, ledger, node);
    (void)json_array_append_new(applied->changes,
                                json_pack("{s:s, s:s, s:I, s:I, s:I, s:I}", "change", "drain",
                                          "node", name, "evicted", (json_int_t)drained.n_evicted,
                                          "stay", (json_int_t)drained.n_stay, "alreadyLeaving",
                                          (json_int_t)drained.n_leaving, "withoutController",
                                          (json_int_t)drained.n_bare));
    return 0;
}

static int cordon_node(struct applied *applied, struct cluster *ledger, const char *name,
                       struct err *err)
{
    const struct node *node = cluster_find_node(ledger, name);
    if (!node)
        return miss_node(ledger, name, err);
    (void)json_array_append_new(applied->changes,
                                json_pack("{s:s, s:s, s:b}", "change", "cordon", "node", name,
                                          "wasCordoned", (int)node_traits(node)->unschedulable));
    edit_cordon(ledger, name);
    return 0;
}

static int lift_mark(struct applied *applied, struct cluster *ledger, const char *name,
                     struct err *err)
{
    const struct node *node = cluster_find_node(ledger, name);
    if (!node)
        return miss_node(ledger, name, err);
    const struct node_mark *mark = node_mark(node);
    (void)json_array_append_new(applied->changes,
                                json_pack("{s:s, s:s, s:s?, s:I, s:b}", "change", "lift", "node",
                                          name, "was", node_mark_word(mark), "shapeTraps",
                                          mark ? (json_int_t)mark->n_traps : 0, "wasAvoided",
                                          (int)node_mark_is_avoided(node)));
    quarantine_lift(ledger, name);
    return 0;
}

static void not_displaced(struct applied *applied, const char *uid)
{
    struct displaced *displaced = NULL;
    HASH_FIND_STR(applied->displaced, uid, displaced);
    if (!displaced)
        return;
    met_budgets_spare(applied->budgets, &displaced->eviction);
    HASH_DEL(applied->displaced, displaced);
}

/* Whether a drain has removed the pod already. As in the other order, it is not displaced then. */
static bool take_gone(struct applied *applied, const char *name)
{
    struct gone_pod *gone = NULL;
    HASH_FIND_STR(applied->gone, name, gone);
    if (!gone)
        return false;
    HASH_DEL(applied->gone, gone);
    not_displaced(applied, gone->uid);
    return true;
}

static void report_removed(struct applied *applied, const char *name, const char *node)
{
    (void)json_array_append_new(applied->changes,
                                json_pack("{s:s, s:s, s:s?}", "change", "removePods", "pod", name,
                                          "node", node[0] ? node : NULL));
}

static int remove_pod(struct applied *applied, struct cluster *ledger, const char *name,
                      struct err *err)
{
    const char *slash = strchr(name, '/');
    const char *namespace_ = arena_printf(applied->arena, "%.*s", (int)(slash - name), name);
    const struct pod *pod = cluster_find_pod_named(ledger, namespace_, slash + 1);
    if (!pod && !take_gone(applied, name))
        return miss_pod(applied, ledger, name, err);
    report_removed(applied, name, pod ? pod->node_name : "");
    if (pod) {
        not_displaced(applied, pod->uid);
        edit_remove(ledger, pod->uid);
    }
    return 0;
}

/* Names of added nodes in an answer. */
#define NAMES_SHOWN ((size_t)6)

/* The first of "LIKE-new-N" after *at that no node has. NULL: it would be too long for a node. */
static const char *free_name(const struct cluster *ledger, const char *like, size_t *at,
                             struct arena *arena)
{
    char name[DNS_SUBDOMAIN_BYTES_MAX + 1];
    do {
        const int len = snprintf(name, sizeof name, "%s-new-%zu", like, ++*at);
        if (len < 0 || (size_t)len >= sizeof name)
            return NULL;
    } while (cluster_find_node(ledger, name));
    return arena_strdup(arena, name);
}

/* The added node may be a model of others. */
static void inherit(struct applied *applied, const char *name, const struct edit_slices *slices)
{
    struct model_slices *model = model_slices_find(applied->models, name);
    if (model)
        model->slices = *slices;
}

static int add_nodes(struct applied *applied, struct cluster *ledger,
                     const struct asked_change *change, struct err *err)
{
    const struct edit_slices *slices = &model_slices_find(applied->models, change->like)->slices;
    json_t *names = json_array();
    size_t at = applied->n_nodes;
    struct edit_added added = {0};
    for (size_t i = 0; i < change->count; i++) {
        const char *name = free_name(ledger, change->like, &at, applied->arena);
        if (!name) {
            json_decref(names);
            return err_set(err, EINVAL, "names of nodes like %.60s... would be too long",
                           change->like);
        }
        added = edit_add_like(ledger, change->like, name, slices);
        applied->bytes += added.bytes;
        inherit(applied, name, slices);
        if (i < NAMES_SHOWN)
            (void)json_array_append_new(names, json_string(name));
        if (applied->bytes > applied->max_bytes) {
            json_decref(names);
            return err_set(err, E2BIG,
                           "the added nodes, with their pods and ResourceSlices, would take more "
                           "than %zu MiB of memory: add fewer",
                           applied->max_bytes >> 20);
        }
    }
    applied->n_nodes += change->count;
    (void)json_array_append_new(applied->changes,
                                json_pack("{s:s, s:s, s:I, s:o, s:I, s:I}", "change", "addNodes",
                                          "like", change->like, "count", (json_int_t)change->count,
                                          "nodes", names, "podsOnEach", (json_int_t)added.n_pods,
                                          "devicesOnEach", (json_int_t)slices->n_devices));
    return 0;
}

static int apply_to(enum change_kind kind, struct applied *applied, struct cluster *ledger,
                    const char *name, struct err *err)
{
    if (kind == CHANGE_DRAIN)
        return drain_node(applied, ledger, name, err);
    if (kind == CHANGE_CORDON)
        return cordon_node(applied, ledger, name, err);
    if (kind == CHANGE_LIFT)
        return lift_mark(applied, ledger, name, err);
    return remove_pod(applied, ledger, name, err);
}

static int apply(const struct asked_change *change, struct applied *applied, struct cluster *ledger,
                 struct err *err)
{
    int r = 0;
    if (change->kind == CHANGE_ADD_NODES) {
        if (!cluster_find_node(ledger, change->like))
            r = miss_node(ledger, change->like, err);
        else
            r = add_nodes(applied, ledger, change, err);
    }
    if (change->effect)
        (void)json_array_append(applied->changes, change->effect);
    for (size_t i = 0; r == 0 && i < change->n_names; i++) {
        r = apply_to(change->kind, applied, ledger, change->names[i], err);
        if (r < 0)
            err_prefix(err, "[%zu]: ", i);
    }
    if (r < 0)
        err_prefix(err, change->kind == CHANGE_ADD_NODES ? ".%s: " : ".%s", KINDS[change->kind]);
    return r;
}

int changes_apply(const struct change_list *list, struct cluster *ledger, struct applied *applied,
                  struct err *err)
{
    applied->budgets = met_budgets_new(ledger, applied->arena);
    for (size_t i = 0; i < list->n; i++) {
        if (list->items[i].kind == CHANGE_ADD_NODES)
            model_slices_want(&applied->models, list->items[i].like, applied->arena);
    }
    if (applied->models)
        model_slices_read(applied->models, ledger, applied->arena);
    for (size_t i = 0; i < list->n; i++) {
        int r = apply(&list->items[i], applied, ledger, err);
        if (r < 0) {
            err_prefix(err, "changes[%zu]", i);
            return r;
        }
    }
    return 0;
}
