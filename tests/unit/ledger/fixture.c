/* fixture: see fixture.h. */
#include "fixture.h"
#include "base/mem.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

int fixture_setup(void **state)
{
    struct fixture *fixture = MEM_NEW(struct fixture);
    policy_init(&fixture->policy);
    fixture->policy.placement = PLACEMENT_BINPACK;
    fixture->arena = arena_new();
    fixture->cluster = cluster_new(&fixture->policy);
    *state = fixture;
    return 0;
}

void fixture_add_quota(struct fixture *fixture, const struct quota *quota)
{
    struct err err = {""};
    if (policy_add_quota(&fixture->policy, quota, &err) < 0)
        fail_msg("%s", err.text);
    cluster_free(fixture->cluster);
    fixture->cluster = cluster_new(&fixture->policy);
}

void fixture_set_levels(struct fixture *fixture, const char *keys)
{
    struct policy *policy = &fixture->policy;
    char *rest = arena_strdup(fixture->arena, keys);
    policy->topology_levels = MEM_ARRAY(char *, TOPOLOGY_LEVELS_MAX);
    while (rest)
        policy->topology_levels[policy->n_topology_levels++] = mem_strdup(strsep(&rest, ","));
    cluster_free(fixture->cluster);
    fixture->cluster = cluster_new(policy);
}

void fixture_check(const struct fixture *fixture)
{
    struct err err = {""};
    if (cluster_check_in_place(fixture->cluster, &err) != 0)
        fail_msg("the ledger's self-check: %s", err.text);
}

int fixture_teardown(void **state)
{
    struct fixture *fixture = *state;
    if (fixture->cluster)
        fixture_check(fixture);
    cluster_free(fixture->cluster);
    arena_free(fixture->arena);
    policy_fini(&fixture->policy);
    free(fixture);
    return 0;
}

/* Parsing. */

struct parts {
    char **parts;
    size_t n;
};

/* The parts between separators, without surrounding spaces; "" has none. */
static struct parts split(struct fixture *fixture, const char *text, const char *separator)
{
    struct parts parts = {ARENA_ARRAY(fixture->arena, char *, strlen(text) + 1), 0};
    for (const char *end = NULL; *text; text = end + (*end ? strlen(separator) : 0)) {
        end = strstr(text, separator);
        end = end ? end : text + strlen(text);
        const char *begin = text + strspn(text, " ");
        size_t len = begin < end ? (size_t)(end - begin) : 0;
        while (len > 0 && begin[len - 1] == ' ')
            len--;
        if (len > 0)
            parts.parts[parts.n++] = arena_strndup(fixture->arena, begin, len);
    }
    return parts;
}

/* Cuts the text at the separator and returns the rest; NULL: no separator. */
static char *cut(char *text, const char *separator)
{
    char *at = strstr(text, separator);
    if (!at)
        return NULL;
    *at = '\0';
    return at + strlen(separator);
}

static void bad(const char *what, const char *text)
{
    fail_msg("%s: \"%s\" is not written as fixture.h says", what, text);
    abort();
}

static int by_resource(const void *a, const void *b)
{
    return strcmp(((const struct amount *)a)->resource, ((const struct amount *)b)->resource);
}

const struct amount *fixture_amounts(struct fixture *fixture, const char *text, size_t *ret_n)
{
    struct parts parts = split(fixture, text, " ");
    struct amount *amounts = ARENA_ARRAY(fixture->arena, struct amount, parts.n);
    for (size_t i = 0; i < parts.n; i++) {
        char *number = cut(parts.parts[i], "=");
        if (!number)
            bad("an amount", text);
        bool is_max = number && strcmp(number, "max") == 0;
        amounts[i].resource = parts.parts[i];
        amounts[i].amount = is_max ? INT64_MAX : strtoll(number, NULL, 10);
    }
    if (parts.n > 1)
        qsort(amounts, parts.n, sizeof *amounts, by_resource);
    *ret_n = parts.n;
    return amounts;
}

const struct label *fixture_labels(struct fixture *fixture, const char *text, size_t *ret_n)
{
    struct parts parts = split(fixture, text, ",");
    struct label *labels = ARENA_ARRAY(fixture->arena, struct label, parts.n);
    for (size_t i = 0; i < parts.n; i++) {
        labels[i].value = cut(parts.parts[i], "=");
        labels[i].key = parts.parts[i];
        if (!labels[i].value)
            bad("a label", text);
    }
    *ret_n = parts.n;
    return labels;
}

static enum taint_effect effect_of(const char *text)
{
    static const char *const NAMES[] = {"NoSchedule", "PreferNoSchedule", "NoExecute"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        if (strcmp(text, NAMES[i]) == 0)
            return (enum taint_effect)i;
    }
    bad("an effect", text);
    return TAINT_NO_SCHEDULE;
}

const struct taint *fixture_taints(struct fixture *fixture, const char *text, size_t *ret_n)
{
    struct parts parts = split(fixture, text, " ");
    struct taint *taints = ARENA_ARRAY(fixture->arena, struct taint, parts.n);
    for (size_t i = 0; i < parts.n; i++) {
        const char *effect = cut(parts.parts[i], ":");
        const char *value = cut(parts.parts[i], "=");
        taints[i] = (struct taint){parts.parts[i], value ? value : "", effect_of(effect)};
    }
    *ret_n = parts.n;
    return taints;
}

const struct toleration *fixture_tolerations(struct fixture *fixture, const char *text,
                                             size_t *ret_n)
{
    struct parts parts = split(fixture, text, " ");
    struct toleration *all = ARENA_ARRAY(fixture->arena, struct toleration, parts.n);
    for (size_t i = 0; i < parts.n; i++) {
        const char *effect = cut(parts.parts[i], ":");
        const char *value = cut(parts.parts[i], "=");
        all[i] = (struct toleration){
            .key = strcmp(parts.parts[i], "*") == 0 ? NULL : parts.parts[i],
            .value = value ? value : "",
            .op = value ? TOLERATION_EQUAL : TOLERATION_EXISTS,
            .any_effect = !effect,
            .effect = effect ? effect_of(effect) : TAINT_NO_SCHEDULE,
        };
    }
    *ret_n = parts.n;
    return all;
}

const struct gpu_model *fixture_models(struct fixture *fixture, const char *text, size_t *ret_n)
{
    struct parts parts = split(fixture, text, ",");
    struct gpu_model *models = ARENA_ARRAY(fixture->arena, struct gpu_model, parts.n);
    for (size_t i = 0; i < parts.n; i++)
        (void)gpu_model_parse(parts.parts[i], NULL, 0, &models[i]);
    *ret_n = parts.n;
    return models;
}

static enum selector_operator operator_of(const char *text)
{
    static const char *const NAMES[] = {
        [SELECTOR_IN] = "In",         [SELECTOR_NOT_IN] = "NotIn",
        [SELECTOR_EXISTS] = "Exists", [SELECTOR_DOES_NOT_EXIST] = "DoesNotExist",
        [SELECTOR_GREATER] = "Gt",    [SELECTOR_LESS] = "Lt",
    };
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        if (strcmp(text, NAMES[i]) == 0)
            return (enum selector_operator)i;
    }
    bad("an operator", text);
    return SELECTOR_IN;
}

static struct requirement requirement_of(struct fixture *fixture, char *text)
{
    char *op = cut(text, " ");
    if (!op) {
        bad("a requirement", text);
        return (struct requirement){0};
    }
    const char *values = cut(op, " ");
    struct parts parts = split(fixture, values ? values : "", "|");
    return (struct requirement){
        .key = text[0] == '@' ? text + 1 : text,
        .op = operator_of(op),
        .values = (const char *const *)parts.parts,
        .n_values = parts.n,
        .is_field = text[0] == '@',
    };
}

struct selector_term fixture_term(struct fixture *fixture, const char *text)
{
    struct parts parts = split(fixture, text, " AND ");
    struct requirement *all = ARENA_ARRAY(fixture->arena, struct requirement, parts.n);
    for (size_t i = 0; i < parts.n; i++)
        all[i] = requirement_of(fixture, parts.parts[i]);
    return (struct selector_term){all, parts.n};
}

struct node_selector fixture_selector(struct fixture *fixture, const char *text)
{
    struct parts parts = split(fixture, text, " OR ");
    struct selector_term *terms = ARENA_ARRAY(fixture->arena, struct selector_term, parts.n);
    for (size_t i = 0; i < parts.n; i++)
        terms[i] = fixture_term(fixture, parts.parts[i]);
    return (struct node_selector){true, terms, parts.n};
}

/* A copy whose requirements on model labels have models. */
static struct selector_term with_models(struct fixture *fixture, const struct selector_term *term)
{
    struct requirement *all = arena_copy(fixture->arena, term->requirements, term->n_requirements,
                                         sizeof *term->requirements);
    for (size_t i = 0; i < term->n_requirements; i++) {
        if (!policy_is_model_label(&fixture->policy, all[i].key))
            continue;
        struct gpu_model *models = ARENA_ARRAY(fixture->arena, struct gpu_model, all[i].n_values);
        for (size_t j = 0; j < all[i].n_values; j++)
            (void)gpu_model_parse(all[i].values[j], fixture->policy.aliases,
                                  fixture->policy.n_aliases, &models[j]);
        all[i].models = models;
    }
    return (struct selector_term){all, term->n_requirements};
}

struct node_selector fixture_legacy_selector(struct fixture *fixture, const char *text)
{
    struct node_selector plain = fixture_selector(fixture, text);
    struct selector_term *terms = ARENA_ARRAY(fixture->arena, struct selector_term, plain.n_terms);
    for (size_t i = 0; i < plain.n_terms; i++)
        terms[i] = with_models(fixture, &plain.terms[i]);
    return (struct node_selector){true, terms, plain.n_terms};
}

/* Facts. */

struct node_facts fixture_node_facts(struct fixture *fixture, const char *name, const char *amounts,
                                     const char *labels)
{
    struct node_facts facts = {.name = name, .ready = true};
    facts.labels = fixture_labels(fixture, labels, &facts.n_labels);
    facts.allocatable = fixture_amounts(fixture, amounts, &facts.n_allocatable);
    facts.capacity = facts.allocatable;
    facts.n_capacity = facts.n_allocatable;
    return facts;
}

struct shape_facts fixture_shape_facts(struct fixture *fixture, const char *demand)
{
    struct shape_facts facts = {0};
    const char *text = arena_printf(fixture->arena, "%s pods=1", demand);
    facts.demand = fixture_amounts(fixture, text, &facts.n_demand);
    return facts;
}

struct pod_facts fixture_pod_facts(struct fixture *fixture, const char *uid, const char *node,
                                   const char *demand)
{
    return (struct pod_facts){
        .uid = uid,
        .namespace_ = "default",
        .name = uid,
        .node_name = node,
        .nominated_node = "",
        .priority_class = "",
        .shape = fixture_shape_facts(fixture, demand),
    };
}

struct pod_facts fixture_facts_in_namespace(struct fixture *fixture, const char *uid,
                                            const char *node, const char *demand)
{
    struct pod_facts facts = fixture_pod_facts(fixture, uid, node, demand);
    facts.namespace_ = arena_strndup(fixture->arena, uid, strcspn(uid, "/"));
    return facts;
}

/* Events. */

void fixture_put_node_facts(struct fixture *fixture, const struct node_facts *facts)
{
    cluster_upsert_node(fixture->cluster, facts);
    fixture_check(fixture);
}

void fixture_put_node(struct fixture *fixture, const char *name, const char *amounts,
                      const char *labels)
{
    const struct node_facts facts = fixture_node_facts(fixture, name, amounts, labels);
    fixture_put_node_facts(fixture, &facts);
}

void fixture_remove_node(struct fixture *fixture, const char *name)
{
    cluster_delete_node(fixture->cluster, name);
    fixture_check(fixture);
}

void fixture_put_pod_facts(struct fixture *fixture, const struct pod_facts *facts)
{
    cluster_upsert_pod(fixture->cluster, facts);
    fixture_check(fixture);
}

void fixture_put_pod(struct fixture *fixture, const char *uid, const char *node, const char *demand)
{
    const struct pod_facts facts = fixture_pod_facts(fixture, uid, node, demand);
    fixture_put_pod_facts(fixture, &facts);
}

void fixture_remove_pod(struct fixture *fixture, const char *uid)
{
    cluster_delete_pod(fixture->cluster, uid);
    fixture_check(fixture);
}

struct fixture *fixture_two_nodes(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "n1", "pods=110 nvidia.com/gpu=8", "");
    fixture_put_node(fixture, "n2", "pods=110 nvidia.com/gpu=8", "");
    fixture_put_pod(fixture, "p", "", "nvidia.com/gpu=6");
    return fixture;
}

/* Reading. */

const struct node *fixture_find_node(const struct fixture *fixture, const char *node)
{
    const struct node *found = cluster_find_node(fixture->cluster, node);
    if (!found)
        fail_msg("there is no node %s", node);
    return found;
}

static const struct node_resource *find_resource(const struct fixture *fixture, const char *node,
                                                 const char *resource)
{
    size_t n = 0;
    const struct node_resource *all = node_resources(fixture_find_node(fixture, node), &n);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(all[i].resource->name, resource) == 0)
            return &all[i];
    }
    return NULL;
}

int64_t fixture_used(const struct fixture *fixture, const char *node, const char *resource)
{
    const struct node_resource *found = find_resource(fixture, node, resource);
    return found ? found->used : -1;
}

int64_t fixture_reserved(const struct fixture *fixture, const char *node, const char *resource)
{
    const struct node_resource *found = find_resource(fixture, node, resource);
    return found ? found->reserved : -1;
}

int64_t fixture_free_amount(const struct fixture *fixture, const char *node, const char *resource)
{
    const struct node_resource *found = find_resource(fixture, node, resource);
    return found ? node_resource_free(found) : INT64_MIN;
}

const struct pod_shape *fixture_resolve(struct fixture *fixture, const struct shape_facts *facts)
{
    return cluster_resolve(fixture->cluster, facts, fixture->arena);
}
