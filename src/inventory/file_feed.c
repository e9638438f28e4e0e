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
#include <string.h>
#include <unistd.h>

#define MAX_DEPTH ((size_t)100)
#define MAX_YAML_NODES ((size_t)1000000)

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
    json_t *kindless;    /* items without a kind, until the list's own kind is known */
    size_t n_skipped;    /* objects of other kinds */
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

/* What an object is kept under in the ledger: a pod by its UID (pod_from_json() makes one up where
 * there is none), all others by name. */
static const char *identity_id(const struct load *load, const struct identity *identity)
{
    if (strcmp(identity->kind, "Pod") != 0)
        return identity->name;
    if (identity->uid[0])
        return identity->uid;
    return identity_text(identity, load->arena);
}

/* Whether the key was there before: then what came with it first is taken out again. */
static bool is_repeated(struct load *load, const struct kind_row *row,
                        const struct identity *identity, const char *key)
{
    const char *first_id = NULL;
    size_t n_before = seen_note(load->seen, key, identity_id(load, identity), &first_id);
    if (n_before == 0)
        return false;
    row->remove(load->cluster, first_id);
    if (n_before == 1)
        problems_add(load->problems, row->kind, identity_text(identity, load->arena),
                     "is there more than once; all of them are left out");
    return true;
}

static bool is_duplicate(struct load *load, const struct kind_row *row,
                         const struct identity *identity)
{
    if (!row->remove)
        return false;
    bool repeated = is_repeated(
        load, row, identity,
        arena_printf(load->arena, "%s %s", row->kind, identity_text(identity, load->arena)));
    if (!repeated && identity->uid[0])
        repeated =
            is_repeated(load, row, identity, arena_printf(load->arena, "uid %s", identity->uid));
    return repeated;
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
    const char *name = identity_text(identity, load->arena);
    struct err why;
    if (!identity->name[0])
        problems_add(load->problems, row->kind, "(unnamed)", "has no metadata.name");
    else if (!is_duplicate(load, row, identity) && row->read(load, object, &why) < 0)
        problems_add(load->problems, row->kind, name, why.text);
    return check_limits(load, err);
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
        problems_add(load->problems, "(unknown)", "(unnamed)", why.text);
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

static int on_item(void *context, json_t *item, struct text_position at, struct err *err)
{
    struct load *load = context;
    (void)at;
    if (json_is_object(item) && !json_member(item, "kind")) {
        if (!load->kindless)
            load->kindless = json_array();
        return json_array_append(load->kindless, item) == 0 ? 0 : err_set(err, ENOMEM, "no memory");
    }
    return read_object(load, item, "", err);
}

/* "NodeList" is a list of "Node". */
static const char *kind_in_list(const char *list_kind, struct arena *arena)
{
    size_t len = strlen(list_kind);
    const size_t suffix_len = strlen("List");
    if (len <= suffix_len || strcmp(list_kind + len - suffix_len, "List") != 0)
        return NULL;
    return arena_strndup(arena, list_kind, len - suffix_len);
}

static int read_kindless(struct load *load, const char *kind, struct text_position at,
                         struct err *err)
{
    size_t i = 0;
    json_t *item = NULL;
    int r = 0;
    if (json_array_size(load->kindless) == 0)
        return 0;
    if (!kind)
        return err_set(err, EINVAL,
                       "%zu:%zu: the list's items have no kind, and it is no NodeList or PodList",
                       at.line, at.column);
    json_array_foreach (load->kindless, i, item) {
        r = read_object(load, item, kind, err);
        if (r < 0)
            break;
    }
    return r;
}

static int on_envelope(void *context, json_t *envelope, struct text_position at, struct err *err)
{
    struct load *load = context;
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct identity identity;
    struct err why;
    if (!json_is_object(envelope) || identity_from_json(envelope, arena, &identity, &why) < 0 ||
        !identity.kind[0])
        return err_set(err, EINVAL, "%zu:%zu: is no Kubernetes object: it has no kind", at.line,
                       at.column);
    const char *kind = kind_in_list(identity.kind, arena);
    int r = read_kindless(load, kind, at, err);
    json_decref(load->kindless);
    load->kindless = NULL;
    if (r == 0 && !kind && strcmp(identity.kind, "List") != 0)
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
        .on_item = on_item, .on_envelope = on_envelope, .context = load};
    return documents_each(read_bytes, load, &options, &handler, err);
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
