/* args: see args.h. */
#include "extender/args.h"
#include "base/clock.h"
#include "base/mem.h"
#include "formats/json_parse.h"
#include "formats/json_stream.h"
#include "formats/json_strings.h"
#include "formats/json_values.h"
#include "inventory/claim_lookup.h"
#include "ledger/reservation.h"
#include "objects/pod.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

static const char *namespace_in(const json_t *pod)
{
    const char *name = json_string_value(json_member(json_member(pod, "metadata"), "namespace"));
    return name && *name ? name : "default";
}

/* A pod that cannot be read fits nowhere: an answer, not an error. */
int args_read_pod(const struct args_body *body, struct arena *arena, const struct policy *policy,
                  struct pod_facts *ret_pod, struct err *err)
{
    json_t *pod = NULL;
    struct err why;
    int r = json_get_object(body->root, "Pod", &pod, err);
    if (r < 0)
        return r;
    if (body->is_known) {
        *ret_pod = body->known;
        return 0;
    }
    if (!pod)
        return err_set(err, EINVAL, "Pod: is missing, should be a Pod object");
    if (pod_from_json(pod, policy, arena, ret_pod, &why) < 0)
        *ret_pod = (struct pod_facts){.uid = "",
                                      .namespace_ = arena_strdup(arena, namespace_in(pod)),
                                      .refusal = arena_strdup(arena, why.text)};
    if (body->pod_fault)
        ret_pod->refusal = body->pod_fault;
    return 0;
}

struct fit_question args_question(const struct cluster *cluster, const struct pod_facts *pod,
                                  struct arena *arena)
{
    const struct fit_question wanted = {
        .shape = cluster_resolve(cluster, &pod->shape, arena),
        .refusal = pod->refusal,
        .scope = FIT_OURS,
        .replica_of = pod->replica_of,
        .asker = asker_from_facts(pod),
        .claims = claims_user_seen(cluster, pod, arena).claims,
        .group = pod->group,
        .gang = pod->gang,
        .own = cluster_find_reservation(cluster, pod->uid),
    };
    return fit_question_of(cluster, pod->namespace_, &wanted, clock_ms(), arena);
}

static int read_names(struct args *args, json_t *names, struct arena *arena, struct err *err)
{
    size_t i = 0;
    json_t *name = NULL;
    args->names = ARENA_ARRAY_UNSET(arena, struct hashed_text, json_array_size(names));
    json_array_foreach (names, i, name) {
        if (!json_is_string(name))
            return err_set(err, EINVAL, "NodeNames[%zu]: is %s, should be a string", i,
                           json_type_text(name));
        args->names[i] = hash_of_text(json_string_value(name));
    }
    args->n_names = json_array_size(names);
    return 0;
}

static int read_nodes(struct args *args, json_t *items, struct arena *arena, struct err *err)
{
    size_t i = 0;
    json_t *node = NULL;
    args->names = ARENA_ARRAY_UNSET(arena, struct hashed_text, json_array_size(items));
    json_array_foreach (items, i, node) {
        const json_t *name = json_member(json_member(node, "metadata"), "name");
        if (!json_is_string(name))
            return err_set(err, EINVAL, "Nodes.items[%zu].metadata.name: should be a string", i);
        args->names[i] = hash_of_text(json_string_value(name));
    }
    args->n_names = json_array_size(items);
    args->has_nodes = true;
    args->nodes = items;
    return 0;
}

static int read_candidates(struct args *args, struct arena *arena, struct err *err)
{
    json_t *names = NULL;
    json_t *nodes = NULL;
    json_t *items = NULL;
    int r = json_get_array(args->root, "NodeNames", &names, err);
    if (r == 0)
        r = json_get_object(args->root, "Nodes", &nodes, err);
    if (r < 0)
        return r;
    if (args->names)
        return 0;
    if (names)
        return read_names(args, names, arena, err);
    if (!nodes)
        return err_set(err, EINVAL, "has neither NodeNames nor Nodes, should have one of them");
    r = json_get_array(nodes, "items", &items, err);
    if (r < 0)
        err_prefix(err, "Nodes.");
    return r < 0 ? r : read_nodes(args, items, arena, err);
}

/* ---- the text ---- */

static struct json_budget budget_of(const struct policy *policy)
{
    return (struct json_budget){.max_values = policy->object_values,
                                .max_tree_bytes = SIZE_MAX,
                                .max_depth = JSON_PARSER_MAX_DEPTH,
                                .values_key = "limits.objectValues"};
}

/* The members that name the Pod replace the null in root. Within the budget it is scanned to its
 * end: kube-scheduler may know a nomination that no version of the object has yet. */
static void read_name(const struct json_strings *strings, bool is_over, struct args_body *body)
{
    static const char *const NAMING[] = {
        "status.nominatedNodeName", "metadata.name", "metadata.namespace",
        "metadata.resourceVersion", "metadata.uid",  NULL};
    const struct json_stream_options options = {.only = is_over ? NAMING + 1 : NAMING,
                                                .ends_early = is_over,
                                                .max_object_bytes = strings->aside_len,
                                                .max_depth = JSON_PARSER_MAX_DEPTH};
    json_t *pod = NULL;
    if (json_stream_read(strings->aside, strings->aside_len, &options, &pod, NULL) == 0)
        (void)json_object_set_new(body->root, "Pod", pod);
}

static const char *nominated_in(const json_t *pod, struct arena *arena)
{
    const char *node =
        json_string_value(json_member(json_member(pod, "status"), "nominatedNodeName"));
    return node ? arena_strdup(arena, node) : "";
}

/* Whether the ledger has the version of the object that is named in root. */
static bool find_known(const struct extender *extender, const struct policy *policy,
                       struct arena *arena, struct args_body *body)
{
    const json_t *pod = json_member(body->root, "Pod");
    const char *uid = json_string_value(json_member(json_member(pod, "metadata"), "uid"));
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(extender->inventory);
    return uid && cluster_policy(view.cluster) == policy &&
           cluster_know_pod(view.cluster, uid, pod_version(pod), arena, &body->known);
}

static int read_pod_text(const struct extender *extender, const struct json_strings *strings,
                         const struct policy *policy, struct arena *arena, struct args_body *body,
                         struct err *err)
{
    const struct json_budget budget = budget_of(policy);
    const bool is_over = strings->n_aside_values > budget.max_values;
    json_t *pod = NULL;
    read_name(strings, is_over, body);
    body->is_known = find_known(extender, policy, arena, body);
    if (body->is_known && !is_over)
        body->known.nominated_node = nominated_in(json_member(body->root, "Pod"), arena);
    if (body->is_known)
        return 0;
    const int r = json_strings_read_aside(strings, &budget, &pod, err);
    if (r == -EMSGSIZE && json_member(body->root, "Pod")) {
        body->pod_fault = arena_strdup(arena, err->text);
        return 0;
    }
    if (r == 0)
        (void)json_object_set_new(body->root, "Pod", pod);
    else
        err_prefix(err, "Pod: ");
    return r;
}

/* Where the names are not plain: two passes more. only: as in json_stream.h. */
// NOLINTNEXTLINE(readability-function-size): one more parameter than others
static int read_whole(const char *text, size_t len, const struct policy *policy,
                      const char *const *only, struct arena *arena, struct args_body *body,
                      struct err *err)
{
    static const char *const POD[] = {"Pod", NULL};
    const struct json_budget budget = budget_of(policy);
    static const char *const NAMING_POD[] = {"Pod.metadata.name", "Pod.metadata.namespace",
                                             "Pod.metadata.resourceVersion", "Pod.metadata.uid",
                                             NULL};
    const struct json_stream_options pod_options = {.only = POD,
                                                    .keep_least = NAMING_POD,
                                                    .object_budget = &budget,
                                                    .max_object_bytes = len + 1,
                                                    .max_depth = JSON_PARSER_MAX_DEPTH};
    const struct json_stream_options rest_options = {.drop = only ? NULL : POD,
                                                     .only = only,
                                                     .max_object_bytes = len + 1,
                                                     .max_depth = JSON_PARSER_MAX_DEPTH};
    json_t *pod = NULL;
    struct err why;
    int r = json_stream_read(text, len, &pod_options, &pod, &why);
    const bool is_over = r == -EMSGSIZE && pod;
    /* Reports all other faults, too. */
    if (!is_over && (r < 0 || !only)) {
        json_decref(pod);
        return json_parse(text, len, 0, r == 0 ? &JSON_OWN : &JSON_ANSWER, &body->root, err);
    }
    if (is_over)
        body->pod_fault = arena_strdup(arena, why.text);
    r = json_stream_read(text, len, &rest_options, &body->root, err);
    if (r == 0)
        (void)json_object_update(body->root, pod);
    json_decref(pod);
    return r;
}

static int read_rest(const struct json_strings *strings, const char *const *only, json_t **ret_root,
                     struct err *err)
{
    const struct json_stream_options options = {.only = only,
                                                .max_object_bytes = strings->rest_len + 1,
                                                .max_depth = JSON_PARSER_MAX_DEPTH};
    if (only)
        return json_stream_read(strings->rest, strings->rest_len, &options, ret_root, err);
    return json_parse(strings->rest, strings->rest_len, 0, &JSON_OWN, ret_root, err);
}

/* Fast path: one pass over the text. Names of nodes are most of it, and nearly always plain. */
int args_read_body(const struct extender *extender, struct exchange *exchange,
                   const struct policy *policy, const char *const *only, struct args_body *ret_body,
                   struct err *err)
{
    static const struct json_strings_keys KEYS = {.list = "NodeNames", .aside = "Pod"};
    struct arena *arena = exchange_arena(exchange);
    struct args_body body = {.root = NULL};
    struct json_strings names;
    size_t len = 0;
    char *text = exchange_own_body(exchange, &len);
    int r = 0;
    if (json_strings_take(text, len, &KEYS, arena, &names)) {
        body.names = names.items;
        body.n_names = names.n;
        body.are_plain = names.are_plain;
        r = read_rest(&names, only, &body.root, err);
        if (r == 0 && names.aside)
            r = read_pod_text(extender, &names, policy, arena, &body, err);
    } else {
        r = read_whole(text, len, policy, only, arena, &body, err);
    }
    if (r < 0)
        json_decref(body.root);
    else
        *ret_body = body;
    return r;
}

const char *extender_namespace_of(struct exchange *exchange)
{
    static const char *const NAMESPACES[] = {"PodNamespace", "Pod.metadata.namespace", NULL};
    size_t len = 0;
    const char *found = NULL;
    json_t *root = NULL;
    const char *text = exchange_body(exchange, &len);
    const struct json_stream_options options = {.only = NAMESPACES,
                                                .ends_early = true,
                                                .object_budget = &JSON_ANSWER,
                                                .max_object_bytes = len + 1,
                                                .max_depth = JSON_PARSER_MAX_DEPTH};
    if (json_stream_read(text, len, &options, &root, NULL) == 0) {
        const char *of_bind = json_string_value(json_member(root, "PodNamespace"));
        found = arena_strdup(exchange_arena(exchange),
                             of_bind ? of_bind : namespace_in(json_member(root, "Pod")));
    }
    json_decref(root);
    return found;
}

static const char *version_of(const json_t *pod)
{
    const char *version =
        json_string_value(json_member(json_member(pod, "metadata"), "resourceVersion"));
    return version ? version : "";
}

int args_init(struct args *ret_args, const struct extender *extender, struct exchange *exchange,
              const struct policy *policy, struct err *err)
{
    struct args args = {0};
    struct args_body body = {0};
    int r = args_read_body(extender, exchange, policy, NULL, &body, err);
    args.root = body.root;
    args.names = body.names;
    args.n_names = body.n_names;
    args.are_plain = body.are_plain;
    if (r == 0 && !json_is_object(args.root))
        r = err_set(err, EINVAL, "is %s, should be an ExtenderArgs object",
                    json_type_text(args.root));
    if (r == 0)
        r = args_read_pod(&body, exchange_arena(exchange), policy, &args.pod, err);
    args.pod_version = version_of(json_member(args.root, "Pod"));
    args.is_deferred =
        args.pod.soft_preferences && policy->soft_preferences == SOFT_PREFERENCES_DEFER;
    if (r == 0)
        r = read_candidates(&args, exchange_arena(exchange), err);
    if (r < 0) {
        err_prefix(err, "gpu-extender: request: ");
        args_fini(&args);
        return r;
    }
    *ret_args = args;
    return 0;
}

void args_fini(struct args *args)
{
    json_decref(args->root);
}
