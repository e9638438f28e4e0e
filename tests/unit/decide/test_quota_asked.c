/* quota_asked: quotas judge the claims that a pod names (dynamic resource allocation). */
#include "decide/quota.h"
#include "fixture_devices.h"
#include "fixture_question.h"
#include "ledger/cluster_copy.h"
#include "unit.h"

#include <string.h>

#define CLASS NVIDIA_DRIVER
static const char *const NAMES[] = {"default"};
enum { ALL, H100, N_LIMITS };

static int setup(void **state)
{
    static const struct quota_limit LIMITS[N_LIMITS] = {
        [ALL] = {.gpus = 4},
        [H100] = {.model = "H100", .gpus = 2},
    };
    (void)fixture_setup(state);
    struct fixture *fixture = *state;
    fixture_add_quota(fixture, &(struct quota){.name = "team",
                                               .namespaces = NAMES,
                                               .n_namespaces = 1,
                                               .limits = LIMITS,
                                               .n_limits = N_LIMITS});
    fixture_put_l4_and_h100(fixture);
    return 0;
}

#define CLAIM_TEST(function) cmocka_unit_test_setup_teardown(function, setup, fixture_teardown)

/* n devices of the node, from gpu-FIRST on, reserved for the pod; uid NULL: for none. */
static void allocate(struct fixture *fixture, const char *name, const char *node, int first, int n,
                     const char *uid)
{
    struct claim_result results[8];
    for (int i = 0; i < n; i++)
        results[i] =
            (struct claim_result){.driver = NVIDIA_DRIVER,
                                  .pool = node,
                                  .device = arena_printf(fixture->arena, "gpu-%d", first + i)};
    const struct claim_facts facts = {.namespace_ = "default",
                                      .name = name,
                                      .uid = name,
                                      .n_devices = n,
                                      .is_allocated = true,
                                      .results = results,
                                      .n_results = (size_t)n,
                                      .holders = &uid,
                                      .n_holders = uid != NULL,
                                      .n_all_holders = uid != NULL,
                                      .extended_for_uid = ""};
    cluster_upsert_resource_claim(fixture->cluster, &facts);
    fixture_check(fixture);
}

static struct pod_facts facts_of(struct fixture *fixture, const char *uid, const char *claims)
{
    struct pod_facts facts = fixture_pod_facts(fixture, uid, "", "");
    facts.claims = claims;
    return facts;
}

static void put_pod(struct fixture *fixture, const char *uid, const char *node, const char *claims)
{
    struct pod_facts facts = fixture_pod_facts(fixture, uid, node, "");
    facts.claims = claims;
    fixture_put_pod_facts(fixture, &facts);
}

static void bound(struct fixture *fixture, const char *uid, const char *node, const char *claims)
{
    put_pod(fixture, uid, node, claims);
}

/* As the dry run and explain judge. */
static enum reason judge_on_fork(struct fixture *fixture, const struct pod_facts *facts,
                                 const char *node)
{
    const struct asker asker = asker_from_facts(facts);
    const struct claims_question claims = {
        .namespace_ = "default", .claims = facts->claims, .asker = &asker};
    struct cluster *fork = cluster_fork(fixture->cluster);
    const struct fit_question wanted = {
        .shape = cluster_resolve(fork, &facts->shape, fixture->arena),
        .scope = FIT_OURS,
        .asker = asker,
        .claims = facts->claims,
        .asked = asked_claims_for_fork(fixture->cluster, &claims, fixture->arena)};
    const struct fit_question question =
        fit_question_of(fork, "default", &wanted, QUOTA_NO_CLAIMS, fixture->arena);
    const enum reason reason = fit_judge(cluster_find_node(fork, node), &question);
    cluster_fork_free(fork);
    return reason;
}

/* Judges also on a fork. Forks do not know the promises of filter. */
static enum reason filter(struct fixture *fixture, const char *uid, const char *claims,
                          const char *node)
{
    const struct pod_facts facts = facts_of(fixture, uid, claims);
    const struct fit_question wanted = {
        .shape = cluster_resolve(fixture->cluster, &facts.shape, fixture->arena),
        .scope = FIT_OURS,
        .asker = asker_from_facts(&facts),
        .claims = claims};
    const struct fit_question question =
        fit_question_of(fixture->cluster, "default", &wanted, 0, fixture->arena);
    const enum reason reason = fit_judge(cluster_find_node(fixture->cluster, node), &question);
    const enum reason on_fork = judge_on_fork(fixture, &facts, node);
    if (reason != REASON_QUOTA_CLAIMED && reason != REASON_NAMESPACE_UNKNOWN)
        assert_string_equal(reason_name(on_fork), reason_name(reason));
    return reason;
}

#define assert_filter(uid, claims, node, reason)                                                   \
    assert_string_equal(reason_name(filter(*state, uid, claims, node)), reason_name(reason))

/* A pod that the ledger knows; also by a GET. */
static enum reserve_verdict bind_after(struct fixture *fixture, const char *uid, const char *node,
                                       bool has_waited)
{
    struct reserve_result result;
    const struct pod_facts facts = facts_of(fixture, uid, NULL);
    const struct reserve_question question = {
        .uid = uid, .node_name = node, .facts = &facts, .has_waited_for_claims = has_waited};
    const enum reserve_verdict verdict = reserve_room(fixture->cluster, &question, &result);
    if (verdict == RESERVE_REFUSED)
        assert_int_equal(result.reason, REASON_QUOTA);
    fixture_check(fixture);
    return verdict;
}

static enum reserve_verdict bind(struct fixture *fixture, const char *uid, const char *node)
{
    return bind_after(fixture, uid, node, false);
}

static void test_filter_counts_what_a_claim_will_get(void **state)
{
    fixture_put_unallocated_claim(*state, "three", 3, CLASS);
    fixture_put_unallocated_claim(*state, "five", 5, CLASS);
    fixture_put_unallocated_claim(*state, "other", 5, "nic");
    assert_filter("p", "three\n", "l4", REASON_FITS);
    assert_filter("p", "five\n", "l4", REASON_QUOTA);
    assert_filter("p", "three\nunknown\n", "l4", REASON_FITS);
    assert_filter("p", "three\n\n", "l4", REASON_FITS);
    assert_filter("p", "other\n", "l4", REASON_FITS);
    allocate(*state, "theirs", "l4", 0, 2, "q");
    assert_filter("p", "three\n", "l4", REASON_QUOTA);
}

static void put_template(struct fixture *fixture, const char *name, int64_t n_devices)
{
    const struct claim_want want = {CLASS, "", n_devices};
    const struct claim_template_facts facts = {
        .namespace_ = "default", .name = name, .wants = &want, .n_wants = 1};
    cluster_upsert_claim_template(fixture->cluster, &facts);
}

/* What /v1/pending adds to what is not evaluated of the pod. */
static void check_unknown(struct fixture *fixture, const char *claims, const char *lines)
{
    const struct pod_facts facts = facts_of(fixture, "p", claims);
    const struct asker asker = asker_from_facts(&facts);
    const struct claims_question question = {
        .namespace_ = "default", .claims = claims, .asker = &asker};
    const char *unknown = asked_claims_unknown(fixture->cluster, &question, fixture->arena);
    assert_string_equal(unknown ? unknown : "none", lines);
}

static void test_filter_counts_the_template_of_a_claim_that_is_not_made(void **state)
{
    struct fixture *fixture = *state;
    put_template(fixture, "of-3", 3);
    put_template(fixture, "of-5", 5);
    assert_filter("p", "/of-3\n", "l4", REASON_FITS);
    assert_filter("p", "/of-5\n", "l4", REASON_QUOTA);
    assert_filter("p", "/of-3\n/of-3\n", "l4", REASON_QUOTA);
    assert_filter("p", "/of-3\n", "h100", REASON_QUOTA);
    assert_filter("p", "/unknown\n", "l4", REASON_FITS);
    put_template(fixture, "of-3", 5);
    assert_filter("p", "/of-3\n", "l4", REASON_QUOTA);
    cluster_delete(fixture->cluster, CLUSTER_CLAIM_TEMPLATES, "default/of-3");
    assert_filter("p", "/of-3\n", "l4", REASON_FITS);
}

/* The template may have changed since. */
static void test_a_claim_that_is_made_counts_and_its_template_does_not(void **state)
{
    struct fixture *fixture = *state;
    put_template(fixture, "t", 5);
    fixture_put_unallocated_claim(fixture, "made", 1, CLASS);
    assert_filter("p", "made\n", "l4", REASON_FITS);
    put_pod(fixture, "p", "", "/t\n");
    assert_int_equal(bind(fixture, "p", "l4"), RESERVE_CLAIMS_UNSEEN);
}

static void test_templates_that_are_missing_are_named(void **state)
{
    struct fixture *fixture = *state;
    put_template(fixture, "there", 1);
    check_unknown(fixture, "/there\nc\n", "none");
    check_unknown(fixture, "/gone\n/there\n",
                  "resource claim template gone: does not exist, so no quota counts it\n");
    cluster_set_known(fixture->cluster, CLUSTER_CLAIM_TEMPLATES, false);
    check_unknown(fixture, "/gone\n/there\n",
                  "resource claim template gone: is not listed, so no quota counts it\n");
    cluster_set_known(fixture->cluster, CLUSTER_CLAIMS, false);
    check_unknown(fixture, "/gone\n", "none");
}

static bool has_template(const struct cluster *cluster, const char *name)
{
    return cluster_find_claim_template(cluster, "default", name) != NULL;
}

static void test_a_list_of_templates_replaces_all(void **state)
{
    struct fixture *fixture = *state;
    struct cluster *cluster = fixture->cluster;
    put_template(fixture, "old", 1);
    put_template(fixture, "kept", 1);
    put_template(fixture, "same", 1);
    cluster_relist_begin(cluster, CLUSTER_CLAIM_TEMPLATES);
    put_template(fixture, "same", 1);
    put_template(fixture, "new", 1);
    cluster_keep(cluster, CLUSTER_CLAIM_TEMPLATES, "default/kept");
    assert_false(cluster_relist_sweep(cluster, CLUSTER_CLAIM_TEMPLATES, 1));
    cluster_delete(cluster, CLUSTER_CLAIM_TEMPLATES, "default/kept"); /* where the sweep goes on */
    assert_true(cluster_relist_sweep(cluster, CLUSTER_CLAIM_TEMPLATES, 100));
    assert_int_equal(cluster_n_objects(cluster, CLUSTER_CLAIM_TEMPLATES), 2);
    assert_true(has_template(cluster, "same") && has_template(cluster, "new"));
    cluster_relist_begin(cluster, CLUSTER_CLAIM_TEMPLATES);
    cluster_relist_end(cluster, CLUSTER_CLAIM_TEMPLATES);
    assert_int_equal(cluster_n_objects(cluster, CLUSTER_CLAIM_TEMPLATES), 0);
}

static void replace(struct fixture *fixture)
{
    struct cluster_copy *copy = cluster_copy_new(fixture->cluster, &fixture->policy);
    assert_true(cluster_copy_some(copy, SIZE_MAX));
    struct cluster *to = cluster_copy_end(copy);
    cluster_free(fixture->cluster);
    fixture->cluster = to;
}

static void test_a_copy_under_another_policy_has_the_templates(void **state)
{
    struct fixture *fixture = *state;
    put_template(fixture, "old", 1);
    cluster_relist_begin(fixture->cluster, CLUSTER_CLAIM_TEMPLATES);
    put_template(fixture, "new", 5);
    cluster_set_known(fixture->cluster, CLUSTER_CLAIM_TEMPLATES, false);
    replace(fixture);
    const struct cluster *to = fixture->cluster;
    assert_false(cluster_knows(to, CLUSTER_CLAIM_TEMPLATES));
    assert_true(has_template(to, "old"));
    assert_int_equal(cluster_find_claim_template(to, "default", "new")->wants[0].n_devices, 5);
    cluster_relist_end(fixture->cluster, CLUSTER_CLAIM_TEMPLATES);
    assert_true(!has_template(to, "old") && has_template(to, "new"));
}

/* Only where the claim can get nothing else. */
static void test_filter_counts_the_model_of_a_node(void **state)
{
    fixture_put_unallocated_claim(*state, "three", 3, CLASS);
    assert_filter("p", "three\n", "h100", REASON_QUOTA);
    assert_filter("p", "three\n", "both", REASON_FITS);
    assert_filter("p", "three\n", "l4", REASON_FITS);
}

static void test_an_extended_resource_tells_what_a_class_gives(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_unallocated_claim(fixture, "five", 5, "by-resource");
    cluster_upsert_device_class(fixture->cluster, &(struct device_class_facts){
                                                      "by-resource", .resource = "nvidia.com/gpu"});
    assert_filter("p", "five\n", "l4", REASON_QUOTA);
    cluster_upsert_device_class(
        fixture->cluster, &(struct device_class_facts){"by-resource", .resource = "nvidia.com/gpu",
                                                       .driver = "nic.example.com"});
    assert_filter("p", "five\n", "l4", REASON_FITS);
}

/* By the selectors of a request; the class decides where it says a driver. */
static void test_a_request_tells_what_its_class_does_not(void **state)
{
    struct fixture *fixture = *state;
    const struct claim_want wants[] = {{"any-gpu", NVIDIA_DRIVER, 3}, {"", NVIDIA_DRIVER, 2}};
    const struct claim_facts facts = {.namespace_ = "default",
                                      .name = "five",
                                      .uid = "five",
                                      .n_devices = 5,
                                      .wants = wants,
                                      .n_wants = 2,
                                      .extended_for_uid = ""};
    cluster_upsert_device_class(fixture->cluster,
                                &(struct device_class_facts){"any-gpu", .resource = ""});
    cluster_upsert_resource_claim(fixture->cluster, &facts);
    assert_filter("p", "five\n", "l4", REASON_QUOTA);
    cluster_upsert_device_class(
        fixture->cluster, &(struct device_class_facts){"any-gpu", .driver = "nic.example.com"});
    assert_filter("p", "five\n", "l4", REASON_FITS);
}

/* Quotas count none of the devices, whichever quotas these are. */
static void test_devices_that_no_quota_counts_need_no_namespace(void **state)
{
    struct fixture *fixture = *state;
    const struct quota_limit limit = {.gpus = 4};
    fixture_add_quota(fixture, &(struct quota){.name = "selects",
                                               .has_selector = true,
                                               .selector = fixture_term(fixture, "team Exists"),
                                               .limits = &limit,
                                               .n_limits = 1});
    cluster_upsert_device_class(fixture->cluster,
                                &(struct device_class_facts){CLASS, .driver = NVIDIA_DRIVER});
    fixture_put_node(fixture, "l4", "cpu=8000 pods=99", "");
    cluster_relist_begin(fixture->cluster, CLUSTER_NAMESPACES);
    fixture_put_unallocated_claim(fixture, "net", 1, "nic");
    fixture_put_unallocated_claim(fixture, "one", 1, CLASS);
    assert_filter("p", "net\n", "l4", REASON_FITS);
    assert_filter("p", "one\n", "l4", REASON_NAMESPACE_UNKNOWN);
}

/* A reload may come between the copy of the claims and the fork. The cells of the two policies have
 * nothing in common, so the claims do not count. */
static void test_claims_counted_by_another_policy_do_not_count(void **state)
{
    static const struct quota_limit LIMIT = {.model = "L4", .gpus = 0};
    struct fixture *fixture = *state;
    struct policy next;
    const struct asker asker = {.uid = "p"};
    const struct claims_question claims = {
        .namespace_ = "default", .claims = "two\n", .asker = &asker};
    allocate(fixture, "two", "h100", 0, 2, "p");
    allocate(fixture, "theirs", "l4", 0, 1, "q");
    policy_init(&next);
    assert_int_equal(policy_add_quota(&next,
                                      &(struct quota){.name = "other",
                                                      .namespaces = NAMES,
                                                      .n_namespaces = 1,
                                                      .limits = &LIMIT,
                                                      .n_limits = 1},
                                      NULL),
                     0);
    struct cluster_copy *copy = cluster_copy_new(fixture->cluster, &next);
    while (!cluster_copy_some(copy, 100))
        ;
    cluster_copy_settle(copy);
    struct cluster *replaced_by = cluster_copy_end(copy);
    struct cluster *fork = cluster_fork(replaced_by);
    const struct pod_facts facts = fixture_pod_facts(fixture, "p", "", "");
    const struct quota_asked asked = {
        .shape = cluster_resolve(fork, &facts.shape, fixture->arena),
        .claims = claims,
        .known = asked_claims_for_fork(fixture->cluster, &claims, fixture->arena)};
    struct quota_view *view = quota_begin_asked(fork, &asked, fixture->arena);
    assert_string_equal(reason_name(quota_judge(view, cluster_find_node(fork, "l4"))), "fits");
    cluster_fork_free(fork);
    cluster_free(replaced_by);
    policy_fini(&next);
}

static void test_claims_are_not_judged_while_they_are_unknown(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_unallocated_claim(fixture, "five", 5, CLASS);
    put_pod(fixture, "p", "", "five\n");
    cluster_set_known(fixture->cluster, CLUSTER_CLAIMS, false);
    assert_filter("p", "five\n", "l4", REASON_FITS);
    assert_int_equal(bind(fixture, "p", "l4"), RESERVE_HELD);
}

static void test_bind_waits_until_the_allocation_shows(void **state)
{
    struct fixture *fixture = *state;
    put_pod(fixture, "p", "", "c\n");
    assert_int_equal(bind(fixture, "p", "l4"), RESERVE_CLAIMS_UNSEEN);
    fixture_put_unallocated_claim(fixture, "c", 2, CLASS);
    assert_int_equal(bind(fixture, "p", "l4"), RESERVE_CLAIMS_UNSEEN);
    allocate(fixture, "c", "l4", 0, 2, NULL);
    assert_int_equal(bind(fixture, "p", "l4"), RESERVE_CLAIMS_UNSEEN);
    allocate(fixture, "c", "l4", 0, 2, "p");
    assert_int_equal(bind(fixture, "p", "l4"), RESERVE_HELD);
}

static void test_bind_waits_for_a_name(void **state)
{
    struct fixture *fixture = *state;
    put_pod(fixture, "p", "", "\n");
    assert_int_equal(bind(fixture, "p", "l4"), RESERVE_CLAIMS_UNSEEN);
}

/* Else no pod with a claim is bound while the watch of claims fails. */
static void test_bind_does_not_wait_for_ever(void **state)
{
    struct fixture *fixture = *state;
    put_pod(fixture, "p", "", "c\n");
    put_pod(fixture, "q", "", "five\n");
    fixture_put_unallocated_claim(fixture, "five", 5, CLASS);
    assert_int_equal(bind_after(fixture, "p", "l4", true), RESERVE_HELD);
    assert_int_equal(bind_after(fixture, "q", "l4", true), RESERVE_REFUSED);
}

/* What it would use is allocated already, so the nominated pod gains nothing by its refusal. */
static void test_a_nomination_does_not_refuse_allocated_claims(void **state)
{
    struct fixture *fixture = *state;
    struct pod_facts nominated = fixture_pod_facts(fixture, "n", "", "nvidia.com/gpu=1");
    put_pod(fixture, "p", "", "four\n");
    allocate(fixture, "four", "l4", 0, 4, "p");
    nominated.priority = 10;
    nominated.nominated_node = "l4";
    fixture_put_pod_facts(fixture, &nominated);
    assert_filter("p", "four\n", "l4", REASON_FITS);
    assert_int_equal(bind(fixture, "p", "l4"), RESERVE_HELD);
}

/* Bind judges the devices, whatever the node's label says. */
static void test_bind_judges_the_model(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_node(fixture, "both", "cpu=8000 pods=99", "nvidia.com/gpu.product=NVIDIA-L4");
    put_pod(fixture, "p", "", "c\n");
    allocate(fixture, "c", "both", 0, 3, "p");
    assert_int_equal(bind(fixture, "p", "both"), RESERVE_REFUSED);
    assert_filter("p", "c\n", "both", REASON_QUOTA);
    assert_filter("p", "c\n", "l4", REASON_QUOTA);
}

/* Deallocated, the claim is taken to get as much again, where the node has such devices. So
 * kube-scheduler does not allocate and we refuse for ever. */
static void test_filter_remembers_what_bind_refused(void **state)
{
    struct fixture *fixture = *state;
    put_pod(fixture, "p", "", "c\n");
    allocate(fixture, "c", "both", 0, 3, "p");
    assert_int_equal(bind(fixture, "p", "both"), RESERVE_REFUSED);
    fixture_put_unallocated_claim(fixture, "c", 1, CLASS);
    assert_filter("p", "c\n", "both", REASON_QUOTA);
    assert_filter("p", "c\n", "l4", REASON_FITS);
    fixture_remove_claim(fixture, "c");
    fixture_put_unallocated_claim(fixture, "c", 1, CLASS);
    assert_filter("p", "c\n", "both", REASON_FITS);
}

static void test_a_copy_knows_what_bind_refused(void **state)
{
    struct fixture *fixture = *state;
    put_pod(fixture, "p", "", "c\n");
    allocate(fixture, "c", "both", 0, 3, "p");
    assert_int_equal(bind(fixture, "p", "both"), RESERVE_REFUSED);
    replace(fixture);
    fixture_put_unallocated_claim(fixture, "c", 1, CLASS);
    replace(fixture);
    assert_filter("p", "c\n", "both", REASON_QUOTA);
}

static void test_all_of_a_node_is_refused_once(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_unallocated_claim(fixture, "all", 1, CLASS);
    put_pod(fixture, "p", "", "all\n");
    assert_filter("p", "all\n", "l4", REASON_FITS);
    allocate(fixture, "all", "l4", 0, 8, "p");
    assert_int_equal(bind(fixture, "p", "l4"), RESERVE_REFUSED);
    fixture_put_unallocated_claim(fixture, "all", 1, CLASS);
    assert_filter("p", "all\n", "l4", REASON_QUOTA);
}

/* kube-scheduler has allocated for both before it asks for a binding. */
static void test_of_two_that_exceed_together_one_is_bound(void **state)
{
    struct fixture *fixture = *state;
    put_pod(fixture, "p", "", "a\n");
    put_pod(fixture, "q", "", "b\n");
    allocate(fixture, "a", "l4", 0, 4, "p");
    allocate(fixture, "b", "l4", 4, 4, "q");
    assert_int_equal(bind(fixture, "q", "l4"), RESERVE_REFUSED);
    allocate(fixture, "b", "l4", 4, 4, NULL);
    assert_filter("q", "b\n", "l4", REASON_QUOTA);
    assert_filter("p", "a\n", "l4", REASON_FITS);
    assert_int_equal(bind(fixture, "p", "l4"), RESERVE_HELD);
    bound(fixture, "p", "l4", "a\n");
    assert_filter("q", "b\n", "l4", REASON_QUOTA);
    fixture_remove_pod(fixture, "p");
    fixture_remove_claim(fixture, "a");
    assert_filter("q", "b\n", "l4", REASON_FITS);
    allocate(fixture, "b", "l4", 4, 4, "q");
    assert_int_equal(bind(fixture, "q", "l4"), RESERVE_HELD);
}

/* Deleted and created again within one list, so the ledger only sees another UID. */
static void test_a_refusal_ends_with_its_claim(void **state)
{
    struct fixture *fixture = *state;
    const struct claim_want want = {.class_name = CLASS, .driver = "", .n_devices = 1};
    const struct claim_facts again = {.namespace_ = "default",
                                      .name = "c",
                                      .uid = "another",
                                      .n_devices = 1,
                                      .wants = &want,
                                      .n_wants = 1,
                                      .extended_for_uid = ""};
    put_pod(fixture, "p", "", "c\n");
    allocate(fixture, "c", "both", 0, 3, "p");
    assert_int_equal(bind(fixture, "p", "both"), RESERVE_REFUSED);
    cluster_upsert_resource_claim(fixture->cluster, &again);
    fixture_check(fixture);
    assert_filter("p", "c\n", "both", REASON_FITS);
}

/* Else each would wait for the other to give back what it has. */
static void test_of_two_that_are_allocated_in_part_one_goes_on(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_unallocated_claim(fixture, "a2", 2, CLASS);
    fixture_put_unallocated_claim(fixture, "b2", 2, CLASS);
    put_pod(fixture, "p", "", "a1\na2\n");
    put_pod(fixture, "q", "", "b1\nb2\n");
    allocate(fixture, "a1", "l4", 0, 2, "p");
    allocate(fixture, "b1", "l4", 4, 2, "q");
    assert_filter("p", "a1\na2\n", "l4", REASON_FITS);
    assert_filter("q", "b1\nb2\n", "l4", REASON_QUOTA);
    allocate(fixture, "a2", "l4", 2, 2, "p");
    assert_int_equal(bind(fixture, "p", "l4"), RESERVE_HELD);
    assert_filter("q", "b1\nb2\n", "l4", REASON_QUOTA);
}

/* The room of a reservation that ends is there again. */
static void test_a_claim_floats_again_after_a_binding_that_failed(void **state)
{
    struct fixture *fixture = *state;
    struct reserve_result result;
    put_pod(fixture, "p", "", "a\n");
    put_pod(fixture, "q", "", "b\n");
    allocate(fixture, "b", "l4", 4, 4, "q");
    const struct pod_facts facts = facts_of(fixture, "q", NULL);
    const struct reserve_question question = {.uid = "q", .node_name = "l4", .facts = &facts};
    assert_int_equal(reserve_room(fixture->cluster, &question, &result), RESERVE_HELD);
    allocate(fixture, "a", "l4", 0, 4, "p");
    assert_filter("p", "a\n", "l4", REASON_QUOTA);
    reservation_release(fixture->cluster, "q", result.serial);
    fixture_check(fixture);
    assert_filter("p", "a\n", "l4", REASON_FITS);
}

static void test_a_shared_claim_is_charged_once(void **state)
{
    struct fixture *fixture = *state;
    allocate(fixture, "c", "l4", 0, 4, "p");
    bound(fixture, "p", "l4", "c\n");
    put_pod(fixture, "q", "", "c\n");
    assert_filter("q", "c\n", "l4", REASON_FITS);
    allocate(fixture, "c", "l4", 0, 4, "q");
    assert_int_equal(bind(fixture, "q", "l4"), RESERVE_HELD);
}

static void claim_quota(struct fixture *fixture, const char *uid, const char *claims)
{
    const struct pod_facts facts = facts_of(fixture, uid, claims);
    assert_true(
        quota_claim(fixture->cluster,
                    &(struct claim_question){.pod = &facts,
                                             .node_name = "l4",
                                             .claims_version = claims_version(fixture->cluster),
                                             .now_ms = 0,
                                             .until_ms = 1000}));
}

/* Between filter and the allocation. */
static void test_a_pod_about_to_be_allocated_counts_once(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_unallocated_claim(fixture, "a", 2, CLASS);
    fixture_put_unallocated_claim(fixture, "b", 2, CLASS);
    fixture_put_unallocated_claim(fixture, "c", 2, CLASS);
    put_pod(fixture, "p", "", "a\n");
    claim_quota(fixture, "p", "a\n");
    assert_filter("q", "b\n", "l4", REASON_FITS);
    claim_quota(fixture, "q", "b\n");
    assert_filter("r", "c\n", "l4", REASON_QUOTA_CLAIMED);
    allocate(fixture, "a", "l4", 0, 2, "p");
    assert_filter("q", "b\n", "l4", REASON_FITS);
    assert_filter("r", "c\n", "l4", REASON_QUOTA_CLAIMED);
}

/* Both pods will get the same devices. */
static void test_a_shared_claim_is_promised_once(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_unallocated_claim(fixture, "c", 3, CLASS);
    fixture_put_unallocated_claim(fixture, "d", 1, CLASS);
    put_pod(fixture, "p", "", "c\n");
    claim_quota(fixture, "p", "c\n");
    assert_filter("q", "c\n", "l4", REASON_FITS);
    assert_filter("q", "c\nd\n", "l4", REASON_FITS);
    assert_filter("q", "d\n", "l4", REASON_FITS);
    fixture_put_unallocated_claim(fixture, "d", 2, CLASS);
    assert_filter("q", "c\nd\n", "l4", REASON_QUOTA);
    assert_filter("q", "d\n", "l4", REASON_QUOTA_CLAIMED);
}

/* kube-scheduler nominates the node before it allocates. */
static void test_a_nomination_keeps_what_claims_will_get(void **state)
{
    struct fixture *fixture = *state;
    struct pod_facts facts = facts_of(fixture, "p", "a\n");
    fixture_put_unallocated_claim(fixture, "a", 3, CLASS);
    fixture_put_unallocated_claim(fixture, "b", 2, CLASS);
    claim_quota(fixture, "p", "a\n");
    facts.nominated_node = "l4";
    fixture_put_pod_facts(fixture, &facts);
    assert_filter("q", "b\n", "l4", REASON_QUOTA_CLAIMED);
}

/* Also where no node's numbers change: the device is not published. */
static void test_a_change_of_use_is_a_new_version(void **state)
{
    struct fixture *fixture = *state;
    fixture_put_claim(fixture, "c", "elsewhere", NVIDIA_DRIVER, "gpu-0");
    const uint64_t version = cluster_version(fixture->cluster);
    fixture_remove_claim(fixture, "c");
    assert_true(cluster_version(fixture->cluster) > version);
}

/* ---- the order of floating claims, at random ---- */

#define RANDOM_ROUNDS 200
#define RANDOM_PODS 5
#define TOTAL 4

/* With one or two claims. */
struct random_pod {
    const char *uid, *claims;
    const char *names[2];
    int n_devices[2];
    int n_claims;
    bool is_allocated[2], is_bound;
};

static unsigned roll(uint64_t *seed, unsigned n)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (unsigned)(*seed >> 33) % n;
}

static void allocate_of(struct fixture *fixture, struct random_pod *pod, int i)
{
    allocate(fixture, pod->names[i], "l4", 0, pod->n_devices[i], pod->uid);
    pod->is_allocated[i] = true;
}

static void make_pod(struct fixture *fixture, struct random_pod *pod, unsigned number,
                     uint64_t *seed)
{
    *pod = (struct random_pod){.uid = arena_printf(fixture->arena, "pod-%u", number), .claims = ""};
    pod->n_claims = 1 + (int)roll(seed, 2);
    for (int i = 0; i < pod->n_claims; i++) {
        pod->names[i] = arena_printf(fixture->arena, "%02u-%u-%d", roll(seed, 90), number, i);
        pod->n_devices[i] = 1 + (int)roll(seed, 3);
        pod->claims = arena_printf(fixture->arena, "%s%s\n", pod->claims, pod->names[i]);
        fixture_put_unallocated_claim(fixture, pod->names[i], pod->n_devices[i], CLASS);
    }
    put_pod(fixture, pod->uid, "", pod->claims);
    for (int i = 0; i < pod->n_claims; i++) {
        if (roll(seed, 3) > 0)
            allocate_of(fixture, pod, i);
    }
}

/* As kube-scheduler does: what filter lets pass is allocated, then bound. */
static bool schedule(struct fixture *fixture, struct random_pod *pod)
{
    if (filter(fixture, pod->uid, pod->claims, "l4") != REASON_FITS)
        return false;
    for (int i = 0; i < pod->n_claims; i++) {
        if (!pod->is_allocated[i])
            allocate_of(fixture, pod, i);
    }
    if (bind(fixture, pod->uid, "l4") != RESERVE_HELD)
        return false;
    bound(fixture, pod->uid, "l4", pod->claims);
    pod->is_bound = true;
    return true;
}

static int use_of(const struct random_pod *pods, bool is_bound)
{
    int sum = 0;
    for (int p = 0; p < RANDOM_PODS; p++) {
        for (int i = 0; pods[p].is_bound == is_bound && i < pods[p].n_claims; i++)
            sum += pods[p].n_devices[i];
    }
    return sum;
}

/* Of those that are not bound and have a claim that is allocated, the one with the first such claim
 * by name. NULL: none. */
static const struct random_pod *first_of(const struct random_pod *pods)
{
    const struct random_pod *first = NULL;
    const char *name = NULL;
    for (int p = 0; p < RANDOM_PODS; p++) {
        for (int i = 0; !pods[p].is_bound && i < pods[p].n_claims; i++) {
            if (!pods[p].is_allocated[i] || (name && strcmp(name, pods[p].names[i]) < 0))
                continue;
            name = pods[p].names[i];
            first = &pods[p];
        }
    }
    return first;
}

/* Bound pods never exceed the limit, and no two pods wait for each other: if all stop, then the
 * first would exceed the limit even alone. */
static void test_floating_claims_at_random(void **state)
{
    struct fixture *fixture = *state;
    for (uint64_t round = 0; round < RANDOM_ROUNDS; round++) {
        struct random_pod pods[RANDOM_PODS];
        uint64_t seed = round;
        for (unsigned p = 0; p < RANDOM_PODS; p++)
            make_pod(fixture, &pods[p], p, &seed);
        for (int n_idle = 0; n_idle < 4 * RANDOM_PODS; n_idle++) {
            struct random_pod *pod = &pods[roll(&seed, RANDOM_PODS)];
            if (!pod->is_bound && schedule(fixture, pod))
                n_idle = 0;
            if (use_of(pods, true) > TOTAL)
                fail_msg("round %d: %d devices are bound", (int)round, use_of(pods, true));
        }
        for (int p = 0; p < RANDOM_PODS; p++)
            (void)(!pods[p].is_bound && schedule(fixture, &pods[p]));
        const struct random_pod *first = first_of(pods);
        if (first && use_of(pods, true) + first->n_devices[0] + first->n_devices[1] <= TOTAL)
            fail_msg("round %d: %s is kept out", (int)round, first->uid);
        for (int p = 0; p < RANDOM_PODS; p++) {
            fixture_remove_pod(fixture, pods[p].uid);
            for (int i = 0; i < pods[p].n_claims; i++)
                fixture_remove_claim(fixture, pods[p].names[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLAIM_TEST(test_a_copy_under_another_policy_has_the_templates),
        CLAIM_TEST(test_a_list_of_templates_replaces_all),
        CLAIM_TEST(test_templates_that_are_missing_are_named),
        CLAIM_TEST(test_a_claim_that_is_made_counts_and_its_template_does_not),
        CLAIM_TEST(test_filter_counts_the_template_of_a_claim_that_is_not_made),
        CLAIM_TEST(test_filter_counts_what_a_claim_will_get),
        CLAIM_TEST(test_filter_counts_the_model_of_a_node),
        CLAIM_TEST(test_an_extended_resource_tells_what_a_class_gives),
        CLAIM_TEST(test_a_request_tells_what_its_class_does_not),
        CLAIM_TEST(test_devices_that_no_quota_counts_need_no_namespace),
        CLAIM_TEST(test_claims_counted_by_another_policy_do_not_count),
        CLAIM_TEST(test_claims_are_not_judged_while_they_are_unknown),
        CLAIM_TEST(test_bind_waits_until_the_allocation_shows),
        CLAIM_TEST(test_bind_waits_for_a_name),
        CLAIM_TEST(test_bind_does_not_wait_for_ever),
        CLAIM_TEST(test_a_nomination_does_not_refuse_allocated_claims),
        CLAIM_TEST(test_bind_judges_the_model),
        CLAIM_TEST(test_filter_remembers_what_bind_refused),
        CLAIM_TEST(test_a_copy_knows_what_bind_refused),
        CLAIM_TEST(test_all_of_a_node_is_refused_once),
        CLAIM_TEST(test_of_two_that_exceed_together_one_is_bound),
        CLAIM_TEST(test_a_refusal_ends_with_its_claim),
        CLAIM_TEST(test_of_two_that_are_allocated_in_part_one_goes_on),
        CLAIM_TEST(test_a_claim_floats_again_after_a_binding_that_failed),
        CLAIM_TEST(test_a_shared_claim_is_charged_once),
        CLAIM_TEST(test_a_shared_claim_is_promised_once),
        CLAIM_TEST(test_a_pod_about_to_be_allocated_counts_once),
        CLAIM_TEST(test_a_nomination_keeps_what_claims_will_get),
        CLAIM_TEST(test_a_change_of_use_is_a_new_version),
        CLAIM_TEST(test_floating_claims_at_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
