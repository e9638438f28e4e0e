/* objects/to_json, objects/snapshot: written facts read back as equal facts. */
#include "base/buf.h"
#include "facts_by_seed.h"
#include "formats/json_parse.h"
#include "ledger/shape_limits.h"
#include "objects/pod.h"
#include "objects/snapshot.h"

#include <stdlib.h>
#include <string.h>

static struct requirement random_requirement(struct dice *dice, bool is_field)
{
    static const size_t MOST[] = {3, 3, 0, 0, 1, 1};
    struct requirement requirement = {.key = is_field ? "metadata.name" : word(dice),
                                      .op = (enum selector_operator)roll(dice, is_field ? 2 : 6),
                                      .is_field = is_field};
    const size_t n = MOST[requirement.op] > 0 && !is_field ? 1 + roll(dice, MOST[requirement.op])
                                                           : MOST[requirement.op] > 0;
    const char **values = ARENA_ARRAY(dice->arena, const char *, n);
    for (size_t i = 0; i < n; i++)
        values[i] = requirement.op >= SELECTOR_GREATER ? "17" : maybe(dice);
    requirement.values = values;
    requirement.n_values = n;
    return requirement;
}

/* Fields follow labels, as after reading. */
static struct selector_term random_term(struct dice *dice, bool has_fields)
{
    const size_t n_labels = roll(dice, 3);
    const size_t n = n_labels + (has_fields ? roll(dice, 2) : 0);
    struct requirement *requirements = ARENA_ARRAY(dice->arena, struct requirement, n);
    for (size_t i = 0; i < n; i++)
        requirements[i] = random_requirement(dice, i >= n_labels);
    return (struct selector_term){requirements, n};
}

static struct node_selector random_selector(struct dice *dice, bool has_fields)
{
    const size_t n = roll(dice, 3);
    struct selector_term *terms = ARENA_ARRAY(dice->arena, struct selector_term, n);
    for (size_t i = 0; i < n; i++)
        terms[i] = random_term(dice, has_fields);
    if (chance(dice))
        return (struct node_selector){0};
    return (struct node_selector){true, terms, n};
}

static const struct toleration *random_tolerations(struct dice *dice, size_t *ret_n)
{
    struct toleration *items = ARENA_ARRAY(dice->arena, struct toleration, 3);
    *ret_n = roll(dice, 4);
    for (size_t i = 0; i < *ret_n; i++) {
        items[i] = (struct toleration){.value = maybe(dice),
                                       .op = (enum toleration_operator)roll(dice, 2),
                                       .any_effect = chance(dice),
                                       .effect = (enum taint_effect)roll(dice, 3)};
        items[i].key = items[i].op == TOLERATION_EXISTS && chance(dice) ? NULL : word(dice);
    }
    return items;
}

static const struct gpu_model *random_models(struct dice *dice, const struct policy *policy,
                                             const char *const *names, size_t n_names,
                                             size_t *ret_n)
{
    struct gpu_model *models = ARENA_ARRAY(dice->arena, struct gpu_model, 4);
    *ret_n = roll(dice, 4);
    for (size_t i = 0; i < *ret_n; i++)
        assert_true(gpu_model_parse(names[roll(dice, n_names)], policy->aliases, policy->n_aliases,
                                    &models[i]));
    return models;
}

/* Accepted and excluded models must be disjoint. */
static struct model_wants random_wants(struct dice *dice, const struct policy *policy)
{
    static const char *const ACCEPT[] = {"A100-SXM4-80GB",         "H100 80GB HBM3", "T4-SHARED",
                                         "A30-MIG-1g.6gb",         "A2-MIG",         "odd thing",
                                         "L40S-MIG-1g.6gb-SHARED", "house",          "B200"};
    static const char *const EXCLUDE[] = {"K80", "P100-PCIe-16GB", "MI300X", "V100"};
    struct model_wants wants = {0};
    wants.accept = random_models(dice, policy, ACCEPT, 9, &wants.n_accept);
    wants.exclude = random_models(dice, policy, EXCLUDE, 4, &wants.n_exclude);
    wants.min_memory_bytes = chance(dice) ? 0 : ((int64_t)roll(dice, 1000) + 1) << 20;
    return wants;
}

static const struct preferred_term *random_preferred(struct dice *dice, size_t *ret_n)
{
    struct preferred_term *terms = ARENA_ARRAY(dice->arena, struct preferred_term, 3);
    *ret_n = roll(dice, 4);
    for (size_t i = 0; i < *ret_n; i++)
        terms[i] = (struct preferred_term){1 + (int64_t)roll(dice, 100), random_term(dice, true)};
    return terms;
}

static struct selector_term random_node_selector(struct dice *dice)
{
    const size_t n = roll(dice, 3);
    struct requirement *requirements = ARENA_ARRAY(dice->arena, struct requirement, n);
    for (size_t i = 0; i < n; i++) {
        const char **value = ARENA_NEW(dice->arena, const char *);
        *value = maybe(dice);
        requirements[i] = (struct requirement){
            .key = i == 0 ? "a" : "b", .op = SELECTOR_IN, .values = value, .n_values = 1};
    }
    return (struct selector_term){requirements, n};
}

static const char *word_or_null(struct dice *dice)
{
    return chance(dice) ? word(dice) : NULL;
}

static const char *owner_or_null(bool is_owned)
{
    return is_owned ? "StatefulSet/web" : NULL;
}

static void add_claims(struct dice *dice, struct pod_facts *facts)
{
    facts->claims = chance(dice) ? "one\n\ntwo\n" : NULL;
    facts->made_claims = facts->claims && chance(dice) ? 5 : 0;
}

static struct pod_facts random_pod(struct dice *dice, const struct policy *policy)
{
    const bool waits = chance(dice);
    const bool is_told = waits && chance(dice);
    const char *const name = word(dice);
    struct pod_facts facts = {
        .uid = chance(dice) ? word(dice) : arena_printf(dice->arena, "ml/%s", name),
        .namespace_ = "ml",
        .name = name,
        .node_name = waits ? "" : word(dice),
        .nominated_node = maybe(dice),
        .priority_class = maybe(dice),
        .finished = !waits && chance(dice),
        .terminating = chance(dice),
        .gated = waits && chance(dice),
        .replica_of = maybe(dice),
        .priority = (int64_t)roll(dice, 2000) - 1000,
        .created_s = chance(dice) ? 0 : 1780000000 + (int64_t)roll(dice, 1000),
        .started_s = chance(dice) ? 0 : 1780000000 + (int64_t)roll(dice, 1000),
        .refusal = word_or_null(dice),
        .extended_claim = word_or_null(dice),
        .unscheduled_reason = is_told ? maybe(dice) : NULL,
        .unscheduled_message = is_told ? maybe(dice) : NULL,
        .controller = owner_or_null(is_told),
        .group = word_or_null(dice),
        .not_evaluated = waits && chance(dice) ? "one\ntwo\n" : NULL,
    };
    add_claims(dice, &facts);
    struct shape_facts *shape = &facts.shape;
    shape->demand = random_amounts(dice, &shape->n_demand);
    shape->node_selector = random_node_selector(dice);
    shape->affinity = random_selector(dice, waits);
    shape->preferred = random_preferred(dice, &shape->n_preferred);
    shape->tolerations = random_tolerations(dice, &shape->n_tolerations);
    shape->wants = random_wants(dice, policy);
    shape->allow_shared = (enum allow_shared)roll(dice, 3);
    const size_t over = roll(dice, 8);
    if (over == SHAPE_LIMIT_POD)
        shape_reduce(shape, SHAPE_LIMIT_POD);
    else if (over == SHAPE_LIMIT_SUM)
        *shape = shape_demand_only(shape, SHAPE_LIMIT_SUM);
    return facts;
}

static void assert_shapes_equal(const struct shape_facts *a, const struct shape_facts *b)
{
    const struct siphash128 left = shape_digest(a);
    const struct siphash128 right = shape_digest(b);
    assert_int_equal(left.low, right.low);
    assert_int_equal(left.high, right.high);
}

static void assert_texts_equal(const char *a, const char *b)
{
    assert_int_equal(a == NULL, b == NULL);
    if (a)
        assert_string_equal(a, b);
}

static void assert_pods_equal(const struct pod_facts *a, const struct pod_facts *b)
{
    assert_string_equal(a->uid, b->uid);
    assert_string_equal(a->namespace_, b->namespace_);
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->node_name, b->node_name);
    assert_string_equal(a->nominated_node, b->nominated_node);
    assert_string_equal(a->priority_class, b->priority_class);
    assert_string_equal(a->replica_of, b->replica_of);
    assert_int_equal(a->finished, b->finished);
    assert_int_equal(a->terminating, b->terminating);
    assert_int_equal(a->gated, b->gated);
    assert_int_equal(a->priority, b->priority);
    assert_int_equal(a->created_s, b->created_s);
    assert_int_equal(a->started_s, b->started_s);
    assert_texts_equal(a->refusal, b->refusal);
    assert_texts_equal(a->extended_claim, b->extended_claim);
    assert_int_equal(a->made_claims, b->made_claims);
    assert_texts_equal(a->claims, b->claims);
    assert_texts_equal(a->unscheduled_reason, b->unscheduled_reason);
    assert_texts_equal(a->unscheduled_message, b->unscheduled_message);
    assert_texts_equal(a->controller, b->controller);
    assert_texts_equal(a->group, b->group);
    assert_texts_equal(a->not_evaluated, b->not_evaluated);
    assert_shapes_equal(&a->shape, &b->shape);
}

/* Aliases with canonical names of other models. */
static struct gpu_model_alias ALIASES[] = {
    {"house", "A100-SXM4-80GB"}, {"B200", "T4"}, {"L40S", "M60"}, {"another", "L40S"}};

static struct policy policy_with_aliases(struct policy *defaults)
{
    policy_init(defaults);
    struct policy policy = *defaults;
    policy.aliases = ALIASES;
    policy.n_aliases = sizeof ALIASES / sizeof *ALIASES;
    return policy;
}

/* The kind decides: KeptPod or Pod. */
static void read_back(json_t *object, const struct policy *policy, struct arena *arena,
                      struct pod_facts *ret_facts)
{
    struct err err;
    const char *kind = json_string_value(json_object_get(object, "kind"));
    int r = strcmp(kind, "Pod") == 0 ? pod_from_json(object, policy, arena, ret_facts, &err)
                                     : kept_pod_from_json(object, policy, arena, ret_facts, &err);
    if (r < 0)
        fail_msg("%s", err.text);
}

static void test_any_pod_reads_back(void **state)
{
    (void)state;
    struct policy defaults;
    const struct policy policy = policy_with_aliases(&defaults);
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        struct dice dice = {seed, arena_new()};
        const struct pod_facts facts = random_pod(&dice, &policy);
        struct pod_facts back;
        json_t *object = through_text(kept_pod_to_json(&facts, &policy));
        read_back(object, &policy, dice.arena, &back);
        assert_pods_equal(&facts, &back);
        json_decref(object);
        arena_free(dice.arena);
    }
    policy_fini(&defaults);
}

static void test_any_reservation_reads_back(void **state)
{
    (void)state;
    struct policy defaults;
    const struct policy policy = policy_with_aliases(&defaults);
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        struct dice dice = {seed, arena_new()};
        struct err err;
        struct reservation_facts facts = {random_pod(&dice, &policy), word(&dice)};
        struct reservation_facts back;
        facts.pod.node_name = "";
        json_t *object = through_text(reservation_to_json(&facts, &policy));
        assert_int_equal(reservation_from_json(object, &policy, dice.arena, &back, &err), 0);
        assert_string_equal(facts.node_name, back.node_name);
        assert_string_equal(facts.pod.uid, back.pod.uid);
        assert_string_equal(facts.pod.name, back.pod.name);
        assert_string_equal(facts.pod.replica_of, back.pod.replica_of);
        assert_int_equal(facts.pod.created_s, back.pod.created_s);
        if (!facts.pod.node_name[0])
            assert_shapes_equal(&facts.pod.shape, &back.pod.shape);
        json_decref(object);
        arena_free(dice.arena);
    }
    policy_fini(&defaults);
}

/* Facts of real objects survive writing and reading. */
static void assert_stays(const char *text, const struct policy *policy)
{
    struct arena *arena = arena_new();
    struct err err;
    struct pod_facts facts;
    struct pod_facts back;
    json_t *object = NULL;
    if (json_parse(text, strlen(text), 0, &JSON_OWN, &object, &err) < 0 ||
        pod_from_json(object, policy, arena, &facts, &err) < 0)
        fail_msg("%s in %s", err.text, text);
    json_decref(object);
    object = through_text(kept_pod_to_json(&facts, policy));
    read_back(object, policy, arena, &back);
    assert_pods_equal(&facts, &back);
    json_decref(object);
    arena_free(arena);
}

static const char LEGACY[] =
    "{\"metadata\":{\"name\":\"x\",\"annotations\":{\"scheduler.alpha.kubernetes.io/affinity\":"
    "\"{\\\"nodeAffinity\\\":{\\\"requiredDuringSchedulingIgnoredDuringExecution\\\":"
    "{\\\"nodeSelectorTerms\\\":[{\\\"matchExpressions\\\":[{\\\"key\\\":\\\"accelerator\\\","
    "\\\"operator\\\":\\\"In\\\",\\\"values\\\":[\\\"nvidia-tesla-k80\\\"]}]}]},"
    "\\\"preferredDuringSchedulingIgnoredDuringExecution\\\":[{\\\"weight\\\":5,\\\"preference\\\":"
    "{\\\"matchExpressions\\\":[{\\\"key\\\":\\\"accelerator\\\",\\\"operator\\\":\\\"In\\\","
    "\\\"values\\\":[\\\"P100\\\"]}]}}]}}\"}},\"spec\":{\"affinity\":{\"nodeAffinity\":{"
    "\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":7,\"preference\":"
    "{\"matchExpressions\":[{\"key\":\"accelerator\",\"operator\":\"In\",\"values\":[\"K80\"]}]}}]}"
    "},\"containers\":[{\"resources\":{\"limits\":{\"nvidia.com/gpu\":1,\"cpu\":\"1500m\"}}}]}}";
static const char REFUSED[] =
    "{\"metadata\":{\"name\":\"x\",\"annotations\":{\"gpu-extender.io/models\":\"\"}},\"spec\":{"
    "\"containers\":[{\"resources\":{\"requests\":{\"nvidia.com/gpu\":\"1500m\"}}}]}}";
static const char TOLERANT[] =
    "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"tolerations\":[{\"operator\":\"Exists\",\"key\":"
    "\"mine\"}],\"containers\":[{\"resources\":{\"limits\":{\"nvidia.com/gpu\":1,\"amd.com/gpu\":2}"
    "}}]}}";

static void test_models_in_the_legacy_annotation(void **state)
{
    (void)state;
    struct policy policy;
    policy_init(&policy);
    assert_stays(LEGACY, &policy);
    policy_fini(&policy);
}

static void test_a_rejected_pod_keeps_its_usage(void **state)
{
    (void)state;
    struct policy policy;
    policy_init(&policy);
    assert_stays(REFUSED, &policy);
    policy_fini(&policy);
}

/* Tolerations that the policy adds are not added twice. */
static void test_tolerations_of_the_policy(void **state)
{
    (void)state;
    struct policy policy;
    policy_init(&policy);
    policy.extended_resource_toleration = true;
    assert_stays(TOLERANT, &policy);
    policy_fini(&policy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_pod_reads_back),
        cmocka_unit_test(test_any_reservation_reads_back),
        cmocka_unit_test(test_models_in_the_legacy_annotation),
        cmocka_unit_test(test_a_rejected_pod_keeps_its_usage),
        cmocka_unit_test(test_tolerations_of_the_policy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
