/* file_feed: see file_feed.h. */
#include "file_feed.h"
#include "base/log.h"
#include "base/mem.h"
#include "formats/documents.h"
#include "formats/json_get.h"
#include "objects/identity.h"
#include "objects/node.h"
#include "objects/pod.h"
#include "seen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_DEPTH ((size_t)100)
#define MAX_YAML_NODES ((size_t)1000000)
#define UNNAMED "(unnamed)"

/* What nobody here reads, and what makes most of a large file. */
static const char *const UNREAD[] = {"metadata.managedFields", "metadata.ownerReferences",
                                     "status.images",          "status.volumesAttached",
                                     "status.volumesInUse",    NULL};

struct load {
    struct cluster *cluster;
    const struct policy *policy;
    const struct inventory_limits *limits;
    struct problems *problems;
    struct seen *seen;
    struct arena *arena; /* of the object being read */
    char *item_kind;     /* of the list's items, "" until it is known */
    json_t *kindless;    /* items without a kind, until it is */
    size_t n_documents;
    size_t n_skipped; /* objects of other kinds */
    int fd;
    size_t n_bytes;
};

/* Nodes. */

static int read_node(struct load *load, const json_t *object, struct err *err)
{
    struct node_facts facts;
    int r = node_from_json(object, load->policy, load->arena, &facts, err);
    if (r == 0)
        cluster_upsert_node(load->cluster, &facts);
    return r;
}

static int read_pod(struct load *load, const json_t *object, struct err *err)
{
    struct pod_facts facts;
    int r = pod_from_json(object, load->policy, load->arena, &facts, err);
    if (r == 0)
        cluster_upsert_pod(load->cluster, &facts);
    return r;
}

static int read_namespace(struct load *load, const json_t *object, struct err *err)
{
    struct identity identity;
    int r = identity_from_json(object, load->arena, &identity, err);
    if (r == 0)
        cluster_upsert_namespace(load->cluster, identity.name);
    return r;
}

static int read_priority_class(struct load *load, const json_t *object, struct err *err)
{
    struct identity identity;
    int64_t value = 0;
    bool is_default = false;
    int r = identity_from_json(object, load->arena, &identity, err);
    if (r == 0)
        r = priority_class_from_json(object, &value, &is_default, err);
    if (r == 0)
        cluster_upsert_priority_class(load->cluster, identity.name, value, is_default);
    return r;
}

/* What is read, a row a kind. remove takes the id of identity_id() back out of the ledger. */
struct kind_row {
    const char *kind;
    const char *api_version; /* up to its length */
    int (*read)(struct load *load, const json_t *object, struct err *err);
    void (*remove)(struct cluster *cluster, const char *id);
};

static const struct kind_row KINDS[] = {
    {"Node", "v1", read_node, cluster_delete_node},
    {"Pod", "v1", read_pod, cluster_delete_pod},
    {"Namespace", "v1", read_namespace, NULL},
    {"PriorityClass", "scheduling.k8s.io/", read_priority_class, NULL},
};

static const struct kind_row *find_kind(const char *kind, const char *api_version)
{
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        const struct kind_row *row = &KINDS[i];
        if (strcmp(row->kind, kind) == 0 &&
            (!api_version[0] ||
             strncmp(row->api_version, api_version, strlen(row->api_version)) == 0))
            return row;
    }
    return NULL;
}

/* An object of a kind that is read. */
struct candidate {
    const struct kind_row *row;
    const char *name; /* as people tell it from others of its kind */
    const char *uid;  /* "" if it has none */
    const char *id;   /* what it is kept under in the ledger */
};

/* A pod is kept under its UID (pod_from_json() makes the same one up where there is none), all
 * others under their names. */
static struct candidate candidate_of(const struct load *load, const struct kind_row *row,
                                     const struct identity *identity)
{
    struct candidate candidate = {row, identity->name, identity->uid, identity->name};
    if (strcmp(row->kind, "Pod") != 0)
        return candidate;
    const char *namespace_ = identity->namespace_[0] ? identity->namespace_ : "default";
    candidate.name = arena_printf(load->arena, "%s/%s", namespace_, identity->name);
    candidate.id = identity->uid[0] ? identity->uid : candidate.name;
    return candidate;
}

/* Whether the key was there before: then what came with it first is taken out again. */
static bool is_repeated(struct load *load, const struct candidate *candidate, const char *key,
                        const char *what)
{
    const char *first_id = NULL;
    size_t n_before = seen_note(load->seen, key, candidate->id, &first_id);
    if (n_before == 0)
        return false;
    candidate->row->remove(load->cluster, first_id);
    if (n_before == 1)
        problems_add(load->problems, candidate->row->kind, candidate->name, what);
    return true;
}

static bool is_duplicate(struct load *load, const struct candidate *candidate)
{
    const char *kind = candidate->row->kind;
    if (!candidate->row->remove)
        return false;
    const char *key = arena_printf(load->arena, "%s %s", kind, candidate->name);
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

static int read_object_of(struct load *load, const struct kind_row *row,
                          const struct identity *identity, const json_t *object, struct err *err)
{
    const struct candidate candidate = candidate_of(load, row, identity);
    struct err why;
    if (!identity->name[0])
        problems_add(load->problems, row->kind, UNNAMED, "has no metadata.name");
    else if (!is_duplicate(load, &candidate) && row->read(load, object, &why) < 0)
        problems_add(load->problems, row->kind, candidate.name, why.text);
    return check_limits(load, err);
}

/* What it is called cannot be read, but perhaps its kind. */
static void leave_out_nameless(struct load *load, const json_t *object, const char *default_kind,
                               const char *why)
{
    const char *kind = json_string_value(json_member(object, "kind"));
    const struct kind_row *row = find_kind(kind && kind[0] ? kind : default_kind, "");
    if (row)
        problems_add(load->problems, row->kind, UNNAMED, why);
    else if (kind && kind[0])
        load->n_skipped++;
    else
        problems_add(load->problems, "(unknown)", UNNAMED, why);
}

/* default_kind: of the list that the object is in, "" if it has none. */
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
    const struct kind_row *row = find_kind(identity.kind, identity.api_version);
    if (row)
        return read_object_of(load, row, &identity, object, err);
    load->n_skipped++;
    LOG(LOG_DEBUG, "inventory", LOG_MSG("object skipped"), LOG_STR("kind", identity.kind),
        LOG_STR("name", identity.name));
    return 0;
}

/* "" where the items must say it themselves. */
static char *kind_in_list(const json_t *list)
{
    char *kind = identity_item_kind(list);
    return kind ? kind : mem_strdup("");
}

/* The API server and kubectl put a list's kind before its items. */
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

static int read_kindless(struct load *load, const char *kind, struct text_position at,
                         struct err *err)
{
    size_t i = 0;
    json_t *item = NULL;
    int r = 0;
    if (json_array_size(load->kindless) > 0 && !kind[0])
        r = err_set(err, EINVAL,
                    "%zu:%zu: the list's items have no kind, and it is no NodeList or PodList",
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
        return err_set(err, EINVAL, "%zu:%zu: is no Kubernetes object: it has no kind", at.line,
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
        return err_set(err, errno, "%s", strerror(errno));
    load->n_bytes += (size_t)n;
    if (load->n_bytes > load->limits->max_file_bytes)
        return err_set(err, EFBIG, "is larger than %zu bytes (limits.clusterFileBytes)",
                       load->limits->max_file_bytes);
    *ret_n = (size_t)n;
    return 0;
}

static int read_all(struct load *load, struct err *err)
{
    const struct document_options options = {
        .drop = UNREAD,
        .max_object_bytes = load->limits->max_object_bytes,
        .max_nodes = MAX_YAML_NODES,
        .max_depth = MAX_DEPTH,
    };
    const struct json_stream_handler handler = {
        .on_list = on_list, .on_item = on_item, .on_envelope = on_envelope, .context = load};
    int r = documents_each(read_bytes, load, &options, &handler, err);
    /* What a kubectl that failed leaves behind must not pass for a cluster without nodes. */
    if (r == 0 && load->n_documents == 0)
        r = err_set(err, EINVAL,
                    "is empty, should be what kubectl get nodes,pods -A -o yaml writes");
    return r;
}

int file_feed_read(const char *path, const struct policy *policy,
                   const struct inventory_limits *limits, struct cluster **ret_cluster,
                   struct problems *problems, struct err *err)
{
    struct load load = {.policy = policy, .limits = limits, .problems = problems};
    load.fd = open(path, O_RDONLY | O_CLOEXEC);
    if (load.fd < 0)
        return err_set(err, errno, "%s: %s", path, strerror(errno));
    load.cluster = cluster_new(policy);
    load.seen = seen_new();
    int r = read_all(&load, err);
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
    *ret_cluster = load.cluster;
    return 0;
}
