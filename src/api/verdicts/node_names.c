/* node_names: see node_names.h. First what nodes have, then what a pod names in vain. */
#include "api/verdicts/node_names.h"
#include "api/verdicts/candidates.h"
#include "base/nearest.h"
#include "base/table.h"

#include <stdint.h>
#include <string.h>

bool node_names_pay(const struct name_view *names, size_t cost)
{
    size_t *left = &names->candidates->models->names_left;
    if (*left < cost)
        return false;
    *left -= cost;
    return true;
}

static const struct node_traits *traits_at(const struct name_view *names, size_t i)
{
    return node_traits(names->candidates->items[i].node);
}

void name_search_offer(struct name_search *search, const char *name)
{
    if (search->found || name == search->last ||
        !node_names_pay(search->names, NODE_NAMES_COMPARISON))
        return;
    search->last = name;
    if (search->is_meant ? search->is_meant(search->asked, name)
                         : nearest_is_typo(search->asked, name))
        search->found = name;
}

bool node_names_has_label(const struct name_view *names, const char *key)
{
    for (size_t i = 0; i < names->candidates->n; i++) {
        const struct label_view *view = &traits_at(names, i)->view;
        if (!node_names_pay(names, 1) || labels_find(view->labels, view->n_labels, key))
            return true;
    }
    return false;
}

static bool has_value(const struct name_view *names, const char *key, const char *value)
{
    for (size_t i = 0; i < names->candidates->n; i++) {
        const struct label_view *view = &traits_at(names, i)->view;
        const char *there = NULL;
        if (!node_names_pay(names, 1))
            return true;
        there = labels_find(view->labels, view->n_labels, key);
        if (there && strcmp(there, value) == 0)
            return true;
    }
    return false;
}

/* Keys are interned, and most nodes have the same: only new ones are compared. */
static const char *near_key(const struct name_view *names, const char *key)
{
    struct name_search search = {.names = names, .asked = key};
    const struct label_view *before = NULL;
    for (size_t i = 0; i < names->candidates->n && !search.found; i++) {
        const struct label_view *view = &traits_at(names, i)->view;
        if (!node_names_pay(names, 1 + view->n_labels / 16))
            break;
        for (size_t j = 0; j < view->n_labels; j++) {
            if (!before || j >= before->n_labels || before->labels[j].key != view->labels[j].key)
                name_search_offer(&search, view->labels[j].key);
        }
        before = view;
    }
    return search.found;
}

/* Labels are compared literally, so a model's name must be written as on the nodes. */
static bool is_model_meant(const struct name_view *names, const struct gpu_model *want,
                           const struct gpu_kind *kind)
{
    const struct gpu_model_there there = {kind->model, kind->memory_bytes};
    struct gpu_model meant;
    if (!node_names_pay(names, NODE_NAMES_COMPARISON))
        return false;
    return gpu_model_satisfies(&there.model, there.memory_bytes, want) ||
           gpu_model_nearest(want, &there, 1, &meant);
}

static const char *near_model_value(const struct name_view *names, const char *key,
                                    const char *value)
{
    const struct policy *policy = cluster_policy(names->candidates->cluster);
    struct gpu_model want;
    const char *last = NULL;
    if (!gpu_model_parse(value, policy->aliases, policy->n_aliases, &want))
        return NULL;
    for (size_t i = 0; i < names->candidates->n; i++) {
        const struct gpu_kind *kind = NULL;
        if (!node_names_pay(names, 1))
            return NULL;
        while ((kind = node_traits_next_kind(traits_at(names, i), kind))) {
            if (kind->value == last || strcmp(kind->label, key) != 0)
                continue;
            last = kind->value;
            if (is_model_meant(names, &want, kind))
                return last;
        }
    }
    return NULL;
}

const char *node_names_near_value(const struct name_view *names, const char *key, const char *value)
{
    struct name_search search = {.names = names, .asked = value};
    if (policy_is_model_label(cluster_policy(names->candidates->cluster), key))
        return near_model_value(names, key, value);
    for (size_t i = 0; i < names->candidates->n && !search.found; i++) {
        const struct label_view *view = &traits_at(names, i)->view;
        const char *there = NULL;
        if (!node_names_pay(names, 1))
            break;
        there = labels_find(view->labels, view->n_labels, key);
        if (there)
            name_search_offer(&search, there);
    }
    return search.found;
}

bool node_names_has_value(const struct name_view *names, const struct requirement *requirement)
{
    for (size_t i = 0; i < requirement->n_values; i++) {
        if (has_value(names, requirement->key, requirement->values[i]))
            return true;
    }
    return false;
}

/* The label that gives the model on nodes which have the one that was probably meant. */
static const char *key_of_model(const struct name_view *names,
                                const struct requirement *requirement)
{
    const struct policy *policy = cluster_policy(names->candidates->cluster);
    struct gpu_model want;
    if (requirement->op != SELECTOR_IN || requirement->n_values == 0 ||
        !gpu_model_parse(requirement->values[0], policy->aliases, policy->n_aliases, &want))
        return NULL;
    for (size_t i = 0; i < names->candidates->n; i++) {
        const struct gpu_kind *kind = NULL;
        while ((kind = node_traits_next_kind(traits_at(names, i), kind))) {
            if (kind->label[0] && is_model_meant(names, &want, kind))
                return kind->label;
        }
    }
    return NULL;
}

const char *node_names_near_label(const struct name_view *names,
                                  const struct requirement *requirement)
{
    const char *near = near_key(names, requirement->key);
    return near ? near : key_of_model(names, requirement);
}

static bool gives(const struct node *node, const struct resource *resource)
{
    const struct node_resource *there = node_find_resource(node, resource);
    return (there && there->advertised) || node_gives_by_claim(node, resource) ||
           node_find_devices(node, resource);
}

/* One node gives both. */
static bool has_both(const struct name_view *names, const struct resource *a,
                     const struct resource *b)
{
    for (size_t i = 0; i < names->candidates->n; i++) {
        const struct node *node = names->candidates->items[i].node;
        if (!node_names_pay(names, 1) || (gives(node, a) && gives(node, b)))
            return true;
    }
    return false;
}

bool node_names_has_resource(const struct name_view *names, const struct resource *resource)
{
    return has_both(names, resource, resource);
}

const char *node_names_near_resource(const struct name_view *names, const char *asked)
{
    struct name_search search = {.names = names, .asked = asked, .is_meant = nearest_is_resource};
    for (size_t i = 0; i < names->candidates->n && !search.found; i++) {
        size_t n = 0;
        const struct node_resource *rows = node_resources(names->candidates->items[i].node, &n);
        for (size_t j = 0; j < n && !search.found; j++) {
            if (!node_names_pay(names, 1))
                return NULL;
            if (rows[j].advertised)
                name_search_offer(&search, rows[j].resource->name);
        }
    }
    return search.found;
}

/* ---- a name that no node has ---- */

static bool must_be_there(const struct requirement *requirement)
{
    return !requirement->is_field && !requirement->models &&
           (requirement->op == SELECTOR_IN || requirement->op == SELECTOR_EXISTS);
}

static bool find_in_requirement(const struct name_view *names,
                                const struct requirement *requirement,
                                struct missing_name *ret_missing)
{
    struct missing_name missing = {.requirement = requirement, .name = requirement->key};
    if (!must_be_there(requirement))
        return false;
    if (!node_names_has_label(names, requirement->key)) {
        missing.kind = MISSING_LABEL;
        missing.meant = node_names_near_label(names, requirement);
    } else if (requirement->op == SELECTOR_IN && !node_names_has_value(names, requirement)) {
        missing.kind = MISSING_VALUE;
        missing.value = requirement->values[0];
        missing.meant = node_names_near_value(names, requirement->key, missing.value);
    }
    if (missing.kind)
        *ret_missing = missing;
    return missing.kind;
}

static bool find_in_term(const struct name_view *names, const struct selector_term *term,
                         struct missing_name *ret_missing)
{
    for (size_t i = 0; i < term->n_requirements; i++) {
        if (find_in_requirement(names, &term->requirements[i], ret_missing))
            return true;
    }
    return false;
}

/* All terms must name something missing, as one of them is enough. */
static bool find_in_affinity(const struct name_view *names, const struct node_selector *affinity,
                             struct missing_name *ret_missing)
{
    struct missing_name first = {0};
    for (size_t i = affinity->n_terms; i > 0; i--) {
        if (!find_in_term(names, &affinity->terms[i - 1], &first))
            return false;
    }
    if (!affinity->present || affinity->n_terms == 0)
        return false;
    *ret_missing = first;
    ret_missing->is_in_affinity = true;
    return true;
}

static bool find_in_resources(const struct name_view *names, const struct pod_shape *shape,
                              struct missing_name *ret_missing)
{
    for (size_t i = 0; i < shape->n_needs; i++) {
        const struct resource *resource = shape->needs[i].resource;
        if (node_names_has_resource(names, resource))
            continue;
        *ret_missing =
            (struct missing_name){.kind = MISSING_RESOURCE,
                                  .name = resource->name,
                                  .meant = node_names_near_resource(names, resource->name)};
        return true;
    }
    return false;
}

static bool find_together(const struct name_view *names, const struct pod_shape *shape,
                          struct missing_name *ret_missing)
{
    for (size_t i = 0; i < shape->n_needs; i++) {
        for (size_t j = i + 1; j < shape->n_needs; j++) {
            const struct resource *one = shape->needs[i].resource;
            const struct resource *other = shape->needs[j].resource;
            if (has_both(names, one, other))
                continue;
            *ret_missing = (struct missing_name){
                .kind = MISSING_TOGETHER, .name = one->name, .value = other->name};
            return true;
        }
    }
    return false;
}

/* One of the models is enough. */
static bool find_in_models(const struct name_view *names, const struct model_wants *wants,
                           struct missing_name *ret_missing)
{
    struct models_here *here = names->candidates->models;
    struct missing_name missing = {.kind = MISSING_MODEL};
    if (wants->n_accept == 0)
        return false;
    models_here_find(here, names->candidates, names->arena);
    for (size_t i = 0; i < wants->n_accept; i++) {
        if (model_list_has(&here->list, &wants->accept[i]))
            return false;
    }
    for (size_t i = 0; i < wants->n_accept && !missing.meant; i++) {
        missing.i_model = i;
        if (model_list_nearest(&here->list, &wants->accept[i], &missing.meant_model) &&
            !model_words_exclude(wants, &missing.meant_model))
            missing.meant = gpu_model_name(&missing.meant_model, names->arena);
    }
    missing.i_model = missing.meant ? missing.i_model : 0;
    missing.name = gpu_model_name(&wants->accept[missing.i_model], names->arena);
    *ret_missing = missing;
    return true;
}

struct missing_name node_names_find_missing(const struct name_view *names,
                                            const struct pod_shape *shape)
{
    const struct shape_facts *facts = &shape->facts;
    struct missing_name missing = {0};
    if (names->candidates->n == 0 || find_in_resources(names, shape, &missing) ||
        find_in_models(names, &facts->wants, &missing) ||
        find_in_term(names, &facts->node_selector, &missing) ||
        find_in_affinity(names, &facts->affinity, &missing))
        return missing;
    (void)find_together(names, shape, &missing);
    return missing;
}

static bool has_taint(const struct name_view *names, const char *key)
{
    for (size_t i = 0; i < names->candidates->n; i++) {
        const struct node_traits *traits = traits_at(names, i);
        for (size_t j = 0; j < traits->n_taints; j++) {
            if (!node_names_pay(names, 1) || strcmp(traits->taints[j].key, key) == 0)
                return true;
        }
    }
    return false;
}

struct missing_name node_names_find_toleration(const struct name_view *names,
                                               const struct shape_facts *facts,
                                               const struct taint *meant)
{
    for (size_t i = 0; i < facts->n_tolerations; i++) {
        const char *key = facts->tolerations[i].key;
        if (key && node_names_pay(names, NODE_NAMES_COMPARISON) &&
            nearest_is_typo(key, meant->key) && !has_taint(names, key))
            return (struct missing_name){
                .kind = MISSING_TOLERATION, .name = key, .meant = meant->key};
    }
    return (struct missing_name){.kind = MISSING_NOTHING};
}

const char *node_names_near_node(const struct name_view *names, const char *asked)
{
    struct nearest nearest = {.asked = asked, .least = SIZE_MAX};
    for (size_t i = 0; i < names->candidates->n && node_names_pay(names, NODE_NAMES_COMPARISON);
         i++)
        (void)nearest_try(&nearest, node_name(names->candidates->items[i].node));
    return nearest.found;
}

/* ---- the names that there are ---- */

struct near_search {
    const struct name_view *names;
    struct near_names near;
    struct seen_name *seen;
};

/* Of equally near names the first. */
static void add_near(struct near_search *search, const char *name, size_t rank)
{
    struct near_names *near = &search->near;
    size_t i = near->n;
    if (!models_here_see(&search->seen, name, search->names->arena))
        return;
    near->n_all++;
    if (i == NODE_NAMES_NEAR && near->ranks[i - 1] <= rank)
        return;
    i = i == NODE_NAMES_NEAR ? i - 1 : near->n++;
    for (; i > 0 && near->ranks[i - 1] > rank; i--) {
        near->items[i] = near->items[i - 1];
        near->ranks[i] = near->ranks[i - 1];
    }
    near->items[i] = name;
    near->ranks[i] = rank;
}

static void add_values(struct near_search *search, const struct missing_name *missing)
{
    const struct name_view *names = search->names;
    const char *last = NULL; /* neighbours often have the same */
    for (size_t i = 0; i < names->candidates->n; i++) {
        const struct label_view *view = &traits_at(names, i)->view;
        const char *value = labels_find(view->labels, view->n_labels, missing->name);
        if (!value || value == last || !node_names_pay(names, NODE_NAMES_COMPARISON))
            continue;
        last = value;
        add_near(search, value, nearest_rank(missing->value, value));
    }
}

/* Of equally near ones last those that the kubelet sets on every node. */
static size_t key_rank(const char *asked, const char *known)
{
    const bool is_common = strncmp(known, "kubernetes.io/", strlen("kubernetes.io/")) == 0;
    return 2 * nearest_rank(asked, known) + is_common;
}

static void add_keys(struct near_search *search, const struct missing_name *missing)
{
    const struct name_view *names = search->names;
    const struct label_view *before = NULL;
    for (size_t i = 0; i < names->candidates->n; i++) {
        const struct label_view *view = &traits_at(names, i)->view;
        for (size_t j = 0; j < view->n_labels; j++) {
            const char *key = view->labels[j].key;
            if ((!before || j >= before->n_labels || before->labels[j].key != key) &&
                node_names_pay(names, NODE_NAMES_COMPARISON))
                add_near(search, key, key_rank(missing->name, key));
        }
        before = view;
    }
}

/* Of equally near ones whole GPUs first, then other GPUs. */
static size_t resource_rank(const char *asked, const struct resource *known)
{
    const size_t len = strlen(known->name);
    const bool is_whole = len > 4 && strcmp(known->name + len - 4, "/gpu") == 0;
    return 3 * nearest_rank(asked, known->name) + (known->is_gpu ? is_whole ? 0 : 1 : 2);
}

/* CPU, memory and the like have no domain. */
static void add_resources(struct near_search *search, const struct missing_name *missing)
{
    const struct name_view *names = search->names;
    for (size_t i = 0; i < names->candidates->n; i++) {
        size_t n = 0;
        const struct node_resource *rows = node_resources(names->candidates->items[i].node, &n);
        for (size_t j = 0; j < n; j++) {
            const struct resource *there = rows[j].resource;
            if (rows[j].advertised && strchr(there->name, '/') &&
                node_names_pay(names, NODE_NAMES_COMPARISON))
                add_near(search, there->name, resource_rank(missing->name, there));
        }
    }
}

/* By the chip alone, as the memory and the form of the missing model may be left out. */
static void add_models(struct near_search *search, const struct missing_name *missing)
{
    const struct name_view *names = search->names;
    const struct model_list *there = &names->candidates->models->list;
    struct gpu_model asked;
    (void)gpu_model_parse(missing->name, NULL, 0, &asked);
    for (size_t i = 0; i < there->n && node_names_pay(names, NODE_NAMES_COMPARISON); i++) {
        const struct gpu_model *model = &there->items[i].model;
        add_near(search, gpu_model_name(model, names->arena),
                 nearest_rank(asked.chip, model->chip));
    }
}

struct near_names node_names_near(const struct name_view *names, const struct missing_name *missing)
{
    static void (*const ADD[])(struct near_search *, const struct missing_name *) = {
        [MISSING_RESOURCE] = add_resources,
        [MISSING_MODEL] = add_models,
        [MISSING_LABEL] = add_keys,
        [MISSING_VALUE] = add_values,
    };
    struct near_search search = {.names = names};
    if (missing->kind >= MISSING_RESOURCE && missing->kind <= MISSING_VALUE)
        ADD[missing->kind](&search, missing);
    HASH_CLEAR(hh, search.seen);
    return search.near;
}

const char *node_names_there(const struct name_view *names, const struct missing_name *missing)
{
    const struct near_names near = node_names_near(names, missing);
    const char *text = "";
    for (size_t i = 0; i < near.n && i < NODE_NAMES_SHOWN; i++)
        text = arena_printf(names->arena, "%s%s%s", text, i > 0 ? ", " : "", near.items[i]);
    if (near.n_all > NODE_NAMES_SHOWN)
        text = arena_printf(names->arena, "%s, +%zu", text, near.n_all - NODE_NAMES_SHOWN);
    return near.n == 0
               ? ""
               : arena_printf(names->arena, "there %s %s", near.n_all == 1 ? "is" : "are", text);
}
