/* holders: the verbs about what holds GPUs: claims and pods, which are parts of the inventory. */
#include "api/tables.h"
#include "base/clock.h"
#include "formats/json_values.h"
#include "verbs.h"

#include <stdlib.h>
#include <strings.h>
#include <time.h>

#define MIG "mig-"

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = "";
    (void)json_get_string(object, key, &text, NULL);
    return text;
}

static int64_t number_of(const json_t *object, const char *key)
{
    int64_t number = 0;
    (void)json_get_integer(object, key, &number, NULL);
    return number;
}

/* ---- the GPUs of a pod, by the names of their models ---- */

static void count(json_t *models, const char *model, int64_t n)
{
    (void)json_object_set_new(models, model, json_integer(number_of(models, model) + n));
}

/* As the API calls parts and shares of GPUs; the resource if the model is unknown. */
static const char *model_of(const char *resource, const json_t *amounts, struct arena *arena)
{
    const char *slash = strrchr(resource, '/');
    const char *base = slash ? slash + 1 : resource;
    const char *model = text_of(amounts, "model");
    const char *sharing = text_of(amounts, "sharing");
    if (!*model)
        return resource;
    if (strncasecmp(base, MIG, strlen(MIG)) == 0)
        return arena_printf(arena, "%s-MIG-%s", model, base + strlen(MIG));
    return arena_printf(arena, "%s%s%s", model, *sharing ? "-" : "", sharing);
}

static void add_devices(json_t *models, const json_t *claim)
{
    size_t i = 0;
    json_t *device = NULL;
    json_array_foreach (json_member(claim, "devices"), i, device) {
        const char *model = text_of(device, "model");
        if (!json_is_true(json_member(device, "adminAccess")))
            count(models, *model ? model : text_of(device, "driver"), 1);
    }
}

/* {"NAMESPACE/POD": {MODEL: n}}: through claims. */
static json_t *models_by_claims(const json_t *inventory, struct arena *arena)
{
    json_t *by_pod = json_object();
    size_t i = 0;
    size_t j = 0;
    json_t *claim = NULL;
    json_t *user = NULL;
    json_array_foreach (json_member(inventory, "claims"), i, claim) {
        json_array_foreach (json_member(claim, "reservedFor"), j, user) {
            const char *pod =
                arena_printf(arena, "%s/%s", text_of(claim, "namespace"), text_of(user, "pod"));
            if (!json_object_get(by_pod, pod))
                (void)json_object_set_new(by_pod, pod, json_object());
            add_devices(json_object_get(by_pod, pod), claim);
        }
    }
    return by_pod;
}

/* A resource that the node does not have came through a claim. */
static json_t *models_of(const json_t *holder, const json_t *node, const json_t *by_claims,
                         struct arena *arena)
{
    const char *pod =
        arena_printf(arena, "%s/%s", text_of(holder, "namespace"), text_of(holder, "pod"));
    json_t *through_claims = json_object_get(by_claims, pod);
    json_t *models = through_claims ? json_copy(through_claims) : json_object();
    const char *resource = NULL;
    json_t *n = NULL;
    json_object_foreach (json_object_get(holder, "gpus"), resource, n) {
        const json_t *amounts = json_member(json_member(node, "resources"), resource);
        if (amounts || !through_claims)
            count(models, model_of(resource, amounts, arena), json_integer_value(n));
    }
    return models;
}

/* ---- the list ---- */

static void set(json_t *object, const char *key, json_t *value)
{
    (void)json_object_set_new(object, key, value);
}

/* The holder with the node, the models and the age. */
static json_t *pod_of(json_t *holder, const json_t *node, json_t *models)
{
    json_t *pod = json_copy(holder);
    int64_t created_s = 0;
    set(pod, "name", json_string(text_of(holder, "pod")));
    (void)json_object_del(pod, "pod");
    set(pod, "node", json_string(text_of(node, "name")));
    set(pod, "models", models);
    set(pod, "ageSeconds",
        text_time_read(text_of(holder, "created"), &created_s) == 0
            ? json_integer((json_int_t)(time(NULL) - created_s))
            : json_null());
    return pod;
}

struct sorted_pod {
    const char *keys[4]; /* namespace, owner, time of creation, name */
    json_t *pod;
};

static int compare(const void *a, const void *b)
{
    const struct sorted_pod *first = a;
    const struct sorted_pod *second = b;
    int order = 0;
    for (size_t i = 0; order == 0 && i < 4; i++)
        order = strcmp(first->keys[i], second->keys[i]);
    return order;
}

static struct sorted_pod sorted_pod(json_t *pod, struct arena *arena)
{
    const json_t *owner = json_member(pod, "controller");
    return (struct sorted_pod){
        {text_of(pod, "namespace"),
         arena_printf(arena, "%s/%s", text_of(owner, "name"), text_of(owner, "kind")),
         text_of(pod, "created"), text_of(pod, "name")},
        pod};
}

static json_t *sort(json_t *pods, struct arena *arena)
{
    const size_t n = json_array_size(pods);
    struct sorted_pod *items = ARENA_ARRAY(arena, struct sorted_pod, n + 1);
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        items[i] = sorted_pod(json_array_get(pods, i), arena);
    qsort(items, n, sizeof *items, compare);
    for (size_t i = 0; i < n; i++)
        (void)json_array_append(list, items[i].pod);
    json_decref(pods);
    return list;
}

/* By namespace, owner, creation and name. */
static json_t *pods_holding(const json_t *inventory, struct arena *arena)
{
    json_t *by_claims = models_by_claims(inventory, arena);
    json_t *pods = json_array();
    size_t i = 0;
    size_t j = 0;
    json_t *node = NULL;
    json_t *holder = NULL;
    json_array_foreach (json_member(inventory, "nodes"), i, node) {
        json_array_foreach (json_member(node, "holders"), j, holder) {
            (void)json_array_append_new(
                pods, pod_of(holder, node, models_of(holder, node, by_claims, arena)));
        }
    }
    json_decref(by_claims);
    return sort(pods, arena);
}

/* ---- the verbs ---- */

/* With the members that tell how good the data are. */
static json_t *part_of(const json_t *inventory, const char *name, json_t *list)
{
    static const char *const KEPT[] = {"asOf",
                                       "source",
                                       "live",
                                       "usable",
                                       "unusableBecause",
                                       "claimsCounted",
                                       "claimsNotCountedBecause",
                                       "claimsOmitted",
                                       "warnings"};
    json_t *answer = json_object();
    for (size_t i = 0; i < sizeof KEPT / sizeof *KEPT; i++)
        (void)json_object_set(answer, KEPT[i], json_object_get(inventory, KEPT[i]));
    (void)json_object_set_new(answer, name, list);
    return answer;
}

/* Tells a mistyped selector from an empty cluster; others may hold GPUs, outside of the selector or
 * the namespace. JSON and YAML show an empty list, and get no message, as with kubectl. */
static void say_if_none(const struct session *session, const json_t *part, const char *list)
{
    const enum form form = session->arguments.form;
    const char *selector = session->arguments.selector;
    const char *namespace_ = session->namespace_;
    const char *model = session->arguments.model;
    const char *what = "hold GPUs";
    if (form == FORM_JSON || form == FORM_YAML || json_array_size(json_member(part, list)) > 0)
        return;
    if (model)
        what = arena_printf(session->arena, "hold GPUs of the model %.100s", model);
    if (selector)
        what = arena_printf(session->arena, "match the selector %.300s", selector);
    else if (namespace_)
        what = arena_printf(session->arena, "in the namespace %.300s %s", namespace_, what);
    (void)session_complain(session, arena_printf(session->arena, "no %s %s", list, what),
                           EXIT_FINE);
}

static int show_part(const struct session *session, json_t *part, print_table *write,
                     const struct print_names *names)
{
    say_if_none(session, part, names->list);
    const int status = print_answer(session, part, write, names, true, EXIT_FINE);
    json_decref(part);
    return status;
}

int verbs_claims(struct session *session)
{
    static const struct print_names NAMES = {"claims", "resourceclaim"};
    json_t *inventory = NULL;
    session_add_parameter(session, "namespace", session->namespace_);
    session_add_parameter(session, "claimSelector", session->arguments.selector);
    int status = session_ask_or_complain(session, "inventory", NULL, &inventory);
    if (status != EXIT_FINE)
        return status;
    json_t *claims = json_incref(json_object_get(inventory, "claims"));
    status = show_part(session, part_of(inventory, "claims", claims), tables_write_claims, &NAMES);
    json_decref(inventory);
    return status;
}

int verbs_pods(struct session *session)
{
    static const struct print_names NAMES = {"pods", "pod"};
    json_t *inventory = NULL;
    session_add_parameter(session, "namespace", session->namespace_);
    session_add_parameter(session, "model", session->arguments.model);
    int status = session_ask_or_complain(session, "inventory", NULL, &inventory);
    if (status != EXIT_FINE)
        return status;
    json_t *pods = pods_holding(inventory, session->arena);
    status = show_part(session, part_of(inventory, "pods", pods), tables_write_holders, &NAMES);
    json_decref(inventory);
    return status;
}
