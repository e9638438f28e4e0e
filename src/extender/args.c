/* args: see args.h. */
#include "extender/args.h"
#include "base/clock.h"
#include "extender/extender.h"
#include "formats/json_get.h"
#include "formats/json_strings.h"
#include "ledger/reservation.h"
#include "objects/pod.h"

static const char *namespace_in(const json_t *pod)
{
    const char *name = json_string_value(json_member(json_member(pod, "metadata"), "namespace"));
    return name && *name ? name : "default";
}

/* A pod that cannot be read fits nowhere: an answer, not an error. */
int args_read_pod(const json_t *root, struct arena *arena, const struct policy *policy,
                  struct pod_facts *ret_pod, struct err *err)
{
    json_t *pod = NULL;
    struct err why;
    int r = json_get_object(root, "Pod", &pod, err);
    if (r < 0)
        return r;
    if (!pod)
        return err_set(err, EINVAL, "Pod: is missing, should be a Pod object");
    if (pod_from_json(pod, policy, arena, ret_pod, &why) < 0)
        *ret_pod = (struct pod_facts){.uid = "",
                                      .namespace_ = arena_strdup(arena, namespace_in(pod)),
                                      .refusal = arena_strdup(arena, why.text)};
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
        .claims = pod->claims,
        .own = cluster_find_reservation(cluster, pod->uid),
    };
    return fit_question_of(cluster, pod->namespace_, &wanted, clock_ms(), arena);
}

static int read_names(struct args *args, json_t *names, struct arena *arena, struct err *err)
{
    size_t i = 0;
    json_t *name = NULL;
    args->names = ARENA_ARRAY(arena, const char *, json_array_size(names));
    json_array_foreach (names, i, name) {
        if (!json_is_string(name))
            return err_set(err, EINVAL, "NodeNames[%zu]: is %s, should be a string", i,
                           json_type_text(name));
        args->names[i] = json_string_value(name);
    }
    args->n_names = json_array_size(names);
    return 0;
}

static int read_nodes(struct args *args, json_t *items, struct arena *arena, struct err *err)
{
    size_t i = 0;
    json_t *node = NULL;
    args->names = ARENA_ARRAY(arena, const char *, json_array_size(items));
    json_array_foreach (items, i, node) {
        const json_t *name = json_member(json_member(node, "metadata"), "name");
        if (!json_is_string(name))
            return err_set(err, EINVAL, "Nodes.items[%zu].metadata.name: should be a string", i);
        args->names[i] = json_string_value(name);
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

/* Fast path: names of nodes are most of the text, and nearly always plain. */
static int parse(struct args *args, struct exchange *exchange, struct err *err)
{
    struct json_strings names;
    size_t len = 0;
    const char *body = exchange_body(exchange, &len);
    if (!json_strings_take(body, len, "NodeNames", exchange_arena(exchange), &names))
        return json_parse(body, len, 0, &args->root, err);
    args->names = names.items;
    args->n_names = names.n;
    return json_parse(names.rest, names.rest_len, 0, &args->root, err);
}

const char *extender_namespace_of(struct exchange *exchange)
{
    struct args args = {0};
    const char *found = NULL;
    if (parse(&args, exchange, NULL) == 0) {
        const char *of_bind = json_string_value(json_member(args.root, "PodNamespace"));
        found = arena_strdup(exchange_arena(exchange),
                             of_bind ? of_bind : namespace_in(json_member(args.root, "Pod")));
    }
    args_fini(&args);
    return found;
}

static const char *version_of(const json_t *pod)
{
    const char *version =
        json_string_value(json_member(json_member(pod, "metadata"), "resourceVersion"));
    return version ? version : "";
}

int args_init(struct args *ret_args, struct exchange *exchange, const struct policy *policy,
              struct err *err)
{
    struct args args = {0};
    int r = parse(&args, exchange, err);
    if (r == 0 && !json_is_object(args.root))
        r = err_set(err, EINVAL, "is %s, should be an ExtenderArgs object",
                    json_type_text(args.root));
    if (r == 0)
        r = args_read_pod(args.root, exchange_arena(exchange), policy, &args.pod, err);
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
