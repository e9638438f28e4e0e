/* inventory: the ledger behind its lock. See include/inventory/inventory.h. */
#include "inventory/inventory.h"
#include "base/log.h"
#include "base/mem.h"
#include "decide/quota.h"
#include "dra/devices.h"
#include "formats/documents.h"
#include "formats/json_values.h"
#include "inventory/kinds.h"
#include "inventory/live/live_priv.h"
#include "inventory_priv.h"
#include "snapshot_feed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- reads a cluster file object by object into a new ledger ---- */

#define MAX_DEPTH ((size_t)100)

/* Unread members that make up most of a large file. */
static const char *const UNREAD[] = {"metadata.managedFields", "status.images",
                                     "status.volumesAttached", "status.volumesInUse", NULL};

/* Of an object over a limit. */
static const char *const NAMING[] = {"apiVersion",         "kind",         "metadata.name",
                                     "metadata.namespace", "metadata.uid", NULL};

/* Kinds that a message names, and the length of their names. */
#define KINDS_NAMED ((size_t)5)
#define KIND_BYTES_MAX 40

struct counted_kind {
    char name[KIND_BYTES_MAX + 1];
    size_t n;
};

struct load {
    struct cluster *cluster;
    const struct policy *policy;
    const struct inventory_limits *limits;
    struct problems *problems;
    struct seen *seen;
    struct arena *arena;          /* of the current object */
    char *item_kind;              /* of the list's items; "" until known */
    json_t *kindless;             /* items whose kind is not yet known */
    const struct json_over *over; /* of the current object, of which a part was read; NULL: all */
    struct snapshot_feed snapshot;
    bool pods_use_claims;
    size_t n_documents;
    size_t n_skipped; /* of kinds that are not read */
    struct counted_kind kinds[KINDS_NAMED];
    size_t n_kinds;
    size_t n_others; /* objects of further kinds */
    int fd;
    size_t n_bytes;
};

/* An object of a kind in the table. */
struct candidate {
    const struct kind_row *row;
    const char *uid; /* "" if absent */
    struct kind_key key;
};

/* Whether the key came before. If so, removes the object that had it first. */
static bool is_repeated(struct load *load, const struct candidate *candidate, const char *key,
                        const char *what)
{
    const char *first_id = NULL;
    size_t n_before = seen_note(load->seen, key, candidate->key.id, &first_id);
    if (n_before == 0)
        return false;
    kinds_remove(candidate->row, load->cluster, first_id);
    if (n_before == 1)
        problems_add(load->problems, candidate->row->kind, candidate->key.name, what);
    return true;
}

static bool is_duplicate(struct load *load, const struct candidate *candidate)
{
    const char *kind = candidate->row->kind;
    if (!candidate->row->drops_duplicates)
        return false;
    const char *key = arena_printf(load->arena, "%s %s", kind, candidate->key.name);
    bool repeated =
        is_repeated(load, candidate, key, "is there more than once; all of them are left out");
    if (!candidate->uid[0])
        return repeated;
    key = arena_printf(load->arena, "uid %s %s", kind, candidate->uid);
    return is_repeated(load, candidate, key,
                       "its UID is there more than once; all that have it are left out") ||
           repeated;
}

static int check_limits(const struct load *load, struct err *err)
{
    const struct inventory_limits *limits = load->limits;
    if (cluster_n_nodes(load->cluster) > limits->max_nodes)
        return err_set(err, E2BIG, "has more than %zu nodes (limits.nodes)", limits->max_nodes);
    if (cluster_n_pods(load->cluster) > limits->max_pods)
        return err_set(err, E2BIG, "has more than %zu pods (limits.pods)", limits->max_pods);
    return 0;
}

/* Of an object over a limit. What a pod uses counts, but it is judged to fit nowhere. */
static int decode_counted(const struct load *load, const struct candidate *candidate,
                          const json_t *part, void **ret_facts, struct err *err)
{
    const struct kind_row *row = candidate->row;
    if (row != &INVENTORY_KINDS[CLUSTER_PODS] || !load->over->is_counted)
        return err_set(err, EMSGSIZE, "%s", load->over->why);
    int r = kinds_read(row, part, load->policy, load->arena, ret_facts, err);
    if (r < 0)
        return r;
    struct pod_facts *pod = *ret_facts;
    problems_add(load->problems, row->kind, candidate->key.name, load->over->why);
    pod->refusal = load->over->why;
    pod->lacks_peers = true;
    return 0;
}

static void take(struct load *load, const struct candidate *candidate, const json_t *object)
{
    const struct kind_row *row = candidate->row;
    void *facts = NULL;
    struct err why;
    int r = load->over ? decode_counted(load, candidate, object, &facts, &why)
                       : kinds_read(row, object, load->policy, load->arena, &facts, &why);
    if (r == 0 && !row->use->is_essential &&
        kinds_count(row, load->cluster) >= load->limits->max_pods)
        r = err_set(&why, E2BIG, "is one of more than %zu (limits.pods)", load->limits->max_pods);
    if (r == 0) {
        kinds_upsert(row, load->cluster, facts);
        r = kinds_check_room(row, load->cluster, candidate->key.id, &why);
    }
    if (r < 0)
        problems_add(load->problems, row->kind, candidate->key.name, why.text);
}

/* Whether its claims exist. Those of a pod that has ended are deleted or released. */
static bool uses_claims(const json_t *pod)
{
    const json_t *spec = json_member(pod, "spec");
    const json_t *status = json_member(pod, "status");
    const char *phase = json_string_value(json_member(status, "phase"));
    if (phase && (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0))
        return false;
    return json_array_size(json_member(spec, "resourceClaims")) > 0 ||
           json_array_size(json_member(status, "resourceClaimStatuses")) > 0 ||
           json_is_object(json_member(status, "extendedResourceClaimStatus"));
}

static int read_object_of(struct load *load, const struct kind_row *row,
                          const struct identity *identity, const json_t *object, struct err *err)
{
    const struct candidate candidate = {row, identity->uid, kinds_key(row, identity, load->arena)};
    load->pods_use_claims |= strcmp(row->kind, "Pod") == 0 && uses_claims(object);
    if (!identity->name[0])
        problems_add(load->problems, row->kind, PROBLEMS_UNNAMED, PROBLEMS_NO_NAME);
    else if (!is_duplicate(load, &candidate))
        take(load, &candidate, object);
    return check_limits(load, err);
}

/* The name is unreadable, but perhaps not the kind. */
static void leave_out_nameless(struct load *load, const json_t *object, const char *default_kind,
                               const char *why)
{
    const char *kind = json_string_value(json_member(object, "kind"));
    const struct kind_row *row = kinds_find(kind && kind[0] ? kind : default_kind, "");
    if (row)
        problems_add(load->problems, row->kind, PROBLEMS_UNNAMED, why);
    else if (kind && kind[0])
        load->n_skipped++;
    else
        problems_add(load->problems, "(unknown)", PROBLEMS_UNNAMED, why);
}

/* For check_nodes(). */
static void count_kind(struct load *load, const char *kind)
{
    static const char LETTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    char name[KIND_BYTES_MAX + 1];
    size_t i = 0;
    (void)snprintf(name, sizeof name, "%.*s", (int)strspn(kind, LETTERS), kind);
    while (i < load->n_kinds && strcmp(load->kinds[i].name, name) != 0)
        i++;
    if (i == KINDS_NAMED || !name[0]) {
        load->n_others++;
        return;
    }
    if (i == load->n_kinds)
        memcpy(load->kinds[load->n_kinds++].name, name, sizeof name);
    load->kinds[i].n++;
}

/* default_kind: of the enclosing list, or "". */
static int read_object(struct load *load, const json_t *object, const char *default_kind,
                       struct err *err)
{
    struct identity identity;
    struct err why;
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    load->arena = arena;
    if (identity_from_json(object, arena, &identity, &why) < 0) {
        leave_out_nameless(load, object, default_kind, why.text);
        return 0;
    }
    if (!identity.kind[0])
        identity.kind = default_kind;
    if (load->limits->needs_nodes && cluster_n_nodes(load->cluster) == 0)
        count_kind(load, identity.kind);
    const struct kind_row *row = kinds_find(identity.kind, identity.api_version);
    if (row)
        return read_object_of(load, row, &identity, object, err);
    if (snapshot_feed_is_its(&identity) && !load->over) {
        snapshot_feed_take(&load->snapshot, object, load->problems);
        return 0;
    }
    load->n_skipped++;
    LOG(LOG_DEBUG, "inventory", LOG_MSG("object skipped"), LOG_STR("kind", identity.kind),
        LOG_STR("name", identity.name));
    return 0;
}

/* "": the items must name their kind. */
static char *kind_in_list(const json_t *list)
{
    char *kind = identity_item_kind(list);
    return kind ? kind : mem_strdup("");
}

/* The API server and kubectl write a list's kind before its items. */
static int on_list(void *context, json_t *so_far, struct text_position at, struct err *err)
{
    struct load *load = context;
    (void)at;
    (void)err;
    free(load->item_kind);
    load->item_kind = kind_in_list(so_far);
    return 0;
}

static int keep_for_later(struct load *load, json_t *item, struct err *err)
{
    const size_t max = load->limits->max_nodes + load->limits->max_pods;
    if (!load->kindless)
        load->kindless = json_array();
    if (json_array_size(load->kindless) == max)
        return err_set(err, E2BIG, "has more than %zu items without a kind (limits.nodes, .pods)",
                       max);
    if (json_array_append(load->kindless, item) < 0)
        abort();
    return 0;
}

static int on_item(void *context, json_t *item, struct text_position at, struct err *err)
{
    struct load *load = context;
    (void)at;
    if (json_is_object(item) && !json_member(item, "kind") && !load->item_kind[0])
        return keep_for_later(load, item, err);
    return read_object(load, item, load->item_kind, err);
}

static bool read_part(struct load *load, const json_t *part, const char *default_kind,
                      const struct json_over *over)
{
    if (!json_member(part, "kind") && !default_kind[0])
        return false;
    load->over = over;
    const int r = read_object(load, part, default_kind, NULL);
    load->over = NULL;
    return r == 0;
}

static bool on_large_item(void *context, const json_t *part, const struct json_over *over)
{
    struct load *load = context;
    return read_part(load, part, load->item_kind, over);
}

/* Of a list that is too long without its items, these may not have been read. */
static bool on_large_envelope(void *context, const json_t *part, const struct json_over *over)
{
    struct load *load = context;
    char *item_kind CLEANUP(mem_free_ptr) = kind_in_list(part);
    const char *kind = json_string_value(json_member(part, "kind"));
    if (item_kind[0] || !kind || strcmp(kind, "List") == 0)
        return false;
    load->n_documents++;
    return read_part(load, part, "", over);
}

static int read_kindless(struct load *load, const char *kind, struct text_position at,
                         struct err *err)
{
    size_t i = 0;
    json_t *item = NULL;
    int r = 0;
    if (json_array_size(load->kindless) > 0 && !kind[0])
        r = err_set(err, EINVAL,
                    "%zu:%zu: the list's items have no kind, and the list is neither a NodeList "
                    "nor a PodList",
                    at.line, at.column);
    json_array_foreach (load->kindless, i, item) {
        if (r == 0)
            r = read_object(load, item, kind, err);
    }
    json_decref(load->kindless);
    load->kindless = NULL;
    return r;
}

static int on_envelope(void *context, json_t *envelope, struct text_position at, struct err *err)
{
    struct load *load = context;
    const char *kind = json_string_value(json_member(envelope, "kind"));
    if (!kind || !kind[0])
        return err_set(err, EINVAL, "%zu:%zu: is not a Kubernetes object: it has no kind", at.line,
                       at.column);
    load->n_documents++;
    char *item_kind CLEANUP(mem_free_ptr) = kind_in_list(envelope);
    int r = read_kindless(load, item_kind, at, err);
    if (r == 0 && !item_kind[0] && strcmp(kind, "List") != 0)
        r = read_object(load, envelope, "", err);
    return r;
}

static int read_bytes(void *context, char *bytes, size_t size, size_t *ret_n, struct err *err)
{
    struct load *load = context;
    ssize_t n = 0;
    do
        n = read(load->fd, bytes, size);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return err_set(err, errno, "cannot be read: %s", strerror(errno));
    load->n_bytes += (size_t)n;
    if (load->n_bytes > load->limits->max_file_bytes)
        return err_set(err, EFBIG, "is larger than %zu bytes (limits.clusterFileBytes)",
                       load->limits->max_file_bytes);
    *ret_n = (size_t)n;
    return 0;
}

static int read_all(struct load *load, struct err *err)
{
    const struct json_budget object_budget = {
        .max_values =
            load->limits->max_object_values > 0 ? load->limits->max_object_values : SIZE_MAX,
        .max_tree_bytes = SIZE_MAX,
        .max_depth = MAX_DEPTH,
        .values_key = "limits.objectValues",
    };
    const struct document_options options = {
        .drop = UNREAD,
        .keep = INVENTORY_KINDS[CLUSTER_PODS].listed.keep,
        .keep_least = NAMING,
        .object_budget = &object_budget,
        .max_object_bytes = load->limits->max_object_bytes,
        .max_values = object_budget.max_values,
        .max_depth = MAX_DEPTH,
    };
    const struct json_stream_handler handler = {
        .on_list = on_list,
        .on_item = on_item,
        .on_envelope = on_envelope,
        .on_large_item = on_large_item,
        .on_large_envelope = on_large_envelope,
        .context = load,
    };
    int r = documents_each(read_bytes, load, &options, &handler, err);
    /* A failed kubectl leaves an empty file, which must not pass for a cluster without nodes. */
    if (r == 0 && load->n_documents == 0)
        r = err_set(err, EINVAL,
                    "is empty, should be what kubectl get nodes,pods -A -o yaml writes");
    return r;
}

/* "2 Pod, 1 Deployment, 3 others" */
static const char *kinds_text(const struct load *load, struct arena *arena)
{
    const char *text = "";
    for (size_t i = 0; i < load->n_kinds; i++)
        text = arena_printf(arena, "%s%s%zu %s", text, text[0] ? ", " : "", load->kinds[i].n,
                            load->kinds[i].name);
    if (load->n_others > 0)
        text = arena_printf(arena, "%s%s%zu others", text, text[0] ? ", " : "", load->n_others);
    return text[0] ? text : "no objects";
}

/* A manifest that is given for a cluster would look like an empty one. */
static int check_nodes(const struct load *load, struct err *err)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    if (!load->limits->needs_nodes || cluster_n_nodes(load->cluster) > 0 ||
        load->problems->n_all > 0)
        return 0;
    return err_set(err, ENOENT,
                   "has no nodes, should be the output of 'kubectl get nodes,pods -A -o yaml'; it "
                   "has %s",
                   kinds_text(load, arena));
}

/* kubectl writes nothing of a kind without objects. So a kind that is not in the file may have been
 * left out, or have no objects: pods tell, which use claims. */
static void judge_kinds(const struct load *load, struct state *state)
{
    const struct devices *devices = cluster_devices(load->cluster);
    const bool has_gpus = devices_have_gpus(devices);
    const bool has_slices = devices_count(devices, DEVICES_SLICES) > 0;
    const bool has_claims = devices_count(devices, DEVICES_CLAIMS) > 0;
    const size_t n_allocated =
        devices_count_claims(devices, CLAIM_USED) + devices_count_claims(devices, CLAIM_UNUSED);
    if (!has_claims && has_slices && !load->pods_use_claims)
        state->claims_note = "the cluster file has no resourceclaims, and no pod in it uses one: "
                             "all devices count as free";
    else if (!has_claims && has_slices)
        cluster_set_known(load->cluster, CLUSTER_CLAIMS, false);
    if (!has_claims && has_gpus && load->pods_use_claims)
        (void)err_set(&state->claims_uncounted, ENOENT,
                      "claims are not counted: the cluster file has no resourceclaims");
    if (!has_gpus && n_allocated > 0)
        (void)err_set(&state->claims_uncounted, ENOENT,
                      "claims are not counted: the cluster file has no resourceslices");
}

/* A snapshot says what was known when it was made. */
static void judge_claims(const struct load *load, struct state *state)
{
    const struct snapshot *snapshot = &load->snapshot.snapshot;
    if (!snapshot->claims_uncounted) {
        judge_kinds(load, state);
        return;
    }
    cluster_set_known(load->cluster, CLUSTER_CLAIMS, snapshot->claims_known);
    (void)err_set(&state->claims_uncounted, ENOENT, "%s", snapshot->claims_uncounted);
}

/* Of a kind that may have been left out. */
static void judge_kind(const struct load *load, enum cluster_kind kind, bool was_known)
{
    cluster_set_known(load->cluster, kind, was_known || cluster_n_objects(load->cluster, kind) > 0);
}

/* Sets state->cluster, which is the caller's, and what the state says of claims; appends to
 * state->problems. Returns 0 or a negative errno: the file cannot be read, is no YAML or JSON, or
 * exceeds a limit. */
static int file_feed_read(const char *path, const struct policy *policy,
                          const struct inventory_limits *limits, struct state *state,
                          struct err *err)
{
    struct problems *problems = state->problems;
    struct load load = {.policy = policy, .limits = limits, .problems = problems};
    load.fd = open(path, O_RDONLY | O_CLOEXEC);
    if (load.fd < 0)
        return err_set(err, errno, "%s: cannot be read: %s", path, strerror(errno));
    load.cluster = cluster_new(policy);
    load.seen = seen_new();
    int r = read_all(&load, err);
    if (r == 0)
        r = check_nodes(&load, err);
    judge_claims(&load, state);
    judge_kind(&load, CLUSTER_CLAIM_TEMPLATES, load.snapshot.snapshot.templates_known);
    judge_kind(&load, CLUSTER_BUDGETS, load.snapshot.snapshot.budgets_known);
    snapshot_feed_end(&load.snapshot, load.cluster, problems);
    (void)close(load.fd);
    seen_free(load.seen);
    json_decref(load.kindless);
    free(load.item_kind);
    if (r < 0) {
        cluster_free(load.cluster);
        err_prefix(err, "%s: ", path);
        return r;
    }
    LOG(LOG_INFO, "inventory", LOG_MSG("file read"), LOG_STR("file", path),
        LOG_NUM("nodes", cluster_n_nodes(load.cluster)),
        LOG_NUM("pods", cluster_n_pods(load.cluster)), LOG_NUM("skipped", load.n_skipped),
        LOG_NUM("problems", problems->n_all));
    state->cluster = load.cluster;
    return 0;
}

/* ---- inventory ---- */

struct inventory *inventory_new(const struct policy *policy, const struct inventory_limits *limits)
{
    struct inventory *inventory = MEM_NEW(struct inventory);
    inventory->limits = *limits;
    inventory_lock_init(&inventory->lock);
    inventory->state = (struct state){
        .cluster = cluster_new(policy), .problems = problems_new(), .source = mem_strdup("")};
    return inventory;
}

static void free_state(struct state *state)
{
    cluster_free(state->cluster);
    problems_free(state->problems);
    free(state->source);
}

void inventory_free(struct inventory *inventory)
{
    if (!inventory)
        return;
    live_free(inventory->live);
    cluster_free(inventory->replaced);
    free_state(&inventory->state);
    inventory_lock_fini(&inventory->lock);
    free(inventory);
}

const struct policy *inventory_hold_policy(struct inventory *inventory)
{
    inventory_lock_to_read(inventory);
    const struct policy *policy = policy_hold(cluster_policy(inventory->state.cluster));
    inventory_unlock(inventory);
    return policy;
}

/* A path may contain any bytes, but the source must be a JSON string. */
static char *source_of_file(const char *path)
{
    struct buf text;
    buf_init(&text, BUF_UNBOUNDED);
    buf_printf(&text, "file:%s", path);
    char *source = buf_take(&text);
    for (char *p = source; *p; p++)
        *p = (unsigned char)*p < 0x80 ? *p : '?';
    return source;
}

/* Frees the old state under the lock, because forks share parts of it. */
static void replace(struct inventory *inventory, const struct state *state)
{
    inventory_lock_to_write(inventory);
    policy_succeed(cluster_policy(inventory->state.cluster), cluster_policy(state->cluster));
    free_state(&inventory->state);
    inventory->state = *state;
    inventory->loaded = true;
    inventory->n_loaded++;
    inventory->n_ledgers++;
    inventory_unlock(inventory);
}

int inventory_load_file_under(struct inventory *inventory, const struct policy *policy,
                              const char *path, struct err *err)
{
    struct state state = {.problems = problems_new(), .as_of_s = (int64_t)time(NULL)};
    int r = file_feed_read(path, policy, &inventory->limits, &state, err);
    if (r < 0) {
        problems_free(state.problems);
        return r;
    }
    state.source = source_of_file(path);
    replace(inventory, &state);
    return 0;
}

int inventory_load_file(struct inventory *inventory, const char *path, struct err *err)
{
    const struct policy *policy CLEANUP(policy_drop_ptr) = inventory_hold_policy(inventory);
    return inventory_load_file_under(inventory, policy, path, err);
}

const char *inventory_waiting_for(struct inventory *inventory)
{
    if (inventory->live)
        return live_status_waiting_for(&inventory->live->status);
    inventory_lock_to_read(inventory);
    bool loaded = inventory->loaded;
    inventory_unlock(inventory);
    return loaded ? NULL : "the cluster file";
}

bool inventory_usable(struct inventory *inventory, struct err *ret_why)
{
    if (inventory->live)
        return live_status_usable(&inventory->live->status, ret_why);
    const char *waiting_for = inventory_waiting_for(inventory);
    if (waiting_for)
        (void)err_set(ret_why, EAGAIN, "not ready: waiting for %s", waiting_for);
    return !waiting_for;
}

/* Pods or nodes per hold of the lock: some tenths of a millisecond. */
#define STEP_FORK ((size_t)500)
/* A fork that others made outdated so often gets its nodes in one step. */
#define FORK_TRIES_MAX 8

/* Forks change reference counts, hence the write lock. Returns FORK_IS_OUTDATED, too, if the ledger
 * was replaced. */
static enum fork_step fork_in_steps(struct inventory *inventory, struct cluster *fork)
{
    enum fork_step step = FORK_GOES_ON;
    while (step == FORK_GOES_ON) {
        inventory_lock_to_write(inventory);
        struct cluster *cluster = inventory->state.cluster;
        step = cluster_is_fork_of(fork, cluster) ? cluster_fork_some(fork, cluster, STEP_FORK)
                                                 : FORK_IS_OUTDATED;
        inventory_unlock(inventory);
    }
    return step;
}

/* Begins a fork, with all nodes if it is the last try. */
static struct cluster *begin_fork(struct inventory *inventory, enum peers_wanted wanted,
                                  size_t n_tries, enum fork_step *ret_step)
{
    inventory_lock_to_write(inventory);
    struct cluster *cluster = inventory->state.cluster;
    struct cluster *fork = cluster_fork_begin(cluster, wanted);
    *ret_step =
        n_tries < FORK_TRIES_MAX ? FORK_GOES_ON : cluster_fork_some(fork, cluster, SIZE_MAX);
    inventory_unlock(inventory);
    cluster_fork_make_room(fork);
    return fork;
}

struct cluster *inventory_fork(struct inventory *inventory, enum peers_wanted wanted)
{
    for (size_t n_tries = 0;; n_tries++) {
        enum fork_step step = FORK_GOES_ON;
        struct cluster *fork = begin_fork(inventory, wanted, n_tries, &step);
        if (step == FORK_IS_COMPLETE || fork_in_steps(inventory, fork) == FORK_IS_COMPLETE)
            return fork;
        inventory_fork_free(inventory, fork);
    }
}

void inventory_fork_free(struct inventory *inventory, struct cluster *fork)
{
    bool is_released = false;
    while (!is_released) {
        inventory_lock_to_write(inventory);
        is_released =
            cluster_fork_peers_release(fork, STEP_FORK) && cluster_fork_free_some(fork, STEP_FORK);
        if (is_released) {
            cluster_fork_free(fork);
            inventory_lock_signal(inventory); /* for inventory_free_replaced() */
        }
        inventory_unlock(inventory);
    }
}

enum reserve_verdict inventory_reserve(struct inventory *inventory,
                                       const struct reserve_question *question, struct arena *arena,
                                       struct reserve_result *ret_result)
{
    struct reserve_result result = {0};
    inventory_lock_to_write(inventory);
    enum reserve_verdict verdict = reserve_room(inventory->state.cluster, question, &result);
    if (result.node_name)
        result.node_name = arena_strdup(arena, result.node_name);
    inventory_unlock(inventory);
    *ret_result = result;
    return verdict;
}

void inventory_write(struct inventory *inventory,
                     void (*change)(struct cluster *cluster, void *context), void *context)
{
    inventory_lock_to_write(inventory);
    change(inventory->state.cluster, context);
    inventory_unlock(inventory);
}

bool inventory_claim(struct inventory *inventory, const struct claim_question *question)
{
    inventory_lock_to_write(inventory);
    const bool is_done = quota_claim(inventory->state.cluster, question);
    inventory_unlock(inventory);
    return is_done;
}

void inventory_end_claim(struct inventory *inventory, const char *uid)
{
    inventory_lock_to_write(inventory);
    claims_end(inventory->state.cluster, uid);
    inventory_unlock(inventory);
}

void inventory_release(struct inventory *inventory, const char *uid, uint64_t serial)
{
    inventory_lock_to_write(inventory);
    reservation_release(inventory->state.cluster, uid, serial);
    inventory_unlock(inventory);
}
