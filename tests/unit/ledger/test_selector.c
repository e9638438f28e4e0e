/* selector: labels, node selectors, affinity terms, taints and tolerations. */
#include "fixture.h"
#include "types/selector.h"
#include "unit.h"

#include <string.h>

#define N_OF(array) (sizeof(array) / sizeof *(array))

static struct label_view view_of(struct fixture *fixture, const char *name, const char *labels)
{
    struct label_view view = {.node_name = name, .policy = &fixture->policy};
    struct label *sorted =
        (struct label *)(uintptr_t)fixture_labels(fixture, labels, &view.n_labels);
    labels_sort(sorted, view.n_labels);
    view.labels = sorted;
    return view;
}

static const char NODE_LABELS[] = "zone=a,empty=,gpus=8,temperature=-5,huge=99999999999999999999,"
                                  "spaced= 8,plus=+8,word=eight";

struct term_row {
    const char *term;
    bool holds;
};

static void check_terms(struct fixture *fixture, const struct label_view *view,
                        const struct term_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct selector_term term = fixture_term(fixture, rows[i].term);
        if (selector_term_holds(&term, view) != rows[i].holds)
            fail_msg("\"%s\" should %shold", rows[i].term, rows[i].holds ? "" : "not ");
    }
}

static void test_operators_on_labels(void **state)
{
    static const struct term_row ROWS[] = {
        {"zone In a", true},
        {"zone In b|a", true},
        {"zone In b", false},
        {"zone In A", false}, /* labels are case-sensitive */
        {"absent In a", false},
        {"zone NotIn b", true},
        {"zone NotIn b|a", false},
        {"absent NotIn a", true}, /* an absent label has no excluded value */
        {"zone Exists", true},
        {"empty Exists", true},
        {"absent Exists", false},
        {"zone DoesNotExist", false},
        {"empty DoesNotExist", false},
        {"absent DoesNotExist", true},
        {"gpus Gt 7", true},
        {"gpus Gt 8", false},
        {"gpus Lt 9", true},
        {"gpus Lt 8", false},
        {"temperature Lt -4", true},
        {"temperature Gt -6", true},
        {"temperature Gt -5", false},
        {"gpus Gt -9223372036854775808", true},
        {"gpus Lt 9223372036854775807", true},
        {"zone In a AND gpus Gt 7", true},
        {"zone In a AND gpus Gt 8", false},
        {"", true}, /* an empty spec.nodeSelector */
    };
    struct fixture *fixture = *state;
    const struct label_view view = view_of(fixture, "n1", NODE_LABELS);
    check_terms(fixture, &view, ROWS, N_OF(ROWS));
}

/* Non-integers on either side match nothing (nodeaffinity parses both with ParseInt). */
static void test_gt_and_lt_compare_integers_only(void **state)
{
    static const struct term_row ROWS[] = {
        {"word Gt 1", false},
        {"word Lt 1", false},
        {"empty Gt -1", false},
        {"absent Gt -1", false},
        {"absent Lt 1", false},
        {"huge Gt 1", false},
        {"gpus Gt 99999999999999999999", false},
        {"gpus Lt 99999999999999999999", false},
        {"gpus Gt 7.5", false},
        {"gpus Gt 0x1", false},
        {"gpus Gt seven", false},
        {"gpus Gt 1|2", false},
        {"gpus Gt", false},
        {"plus Gt 7", true},
        {"spaced Gt 7", false},
    };
    struct fixture *fixture = *state;
    const struct label_view view = view_of(fixture, "n1", NODE_LABELS);
    check_terms(fixture, &view, ROWS, N_OF(ROWS));
    const char *const spaced[] = {" 7"};
    const struct requirement requirement = {
        .key = "gpus", .op = SELECTOR_GREATER, .values = spaced, .n_values = 1};
    assert_false(requirement_holds(&requirement, &view));
}

/* API validation rejects these; in a ledger they must match nothing. */
static void test_requirements_rejected_by_kubernetes_match_nothing(void **state)
{
    static const struct term_row ROWS[] = {
        {"zone In", false},
        {"zone NotIn", false},
        {"absent NotIn", false},
        {"zone Exists a", false},
        {"absent DoesNotExist a", false},
        {"@metadata.name Exists", false},
        {"@metadata.name DoesNotExist", false},
        {"@metadata.name Gt 1", false},
        {"@metadata.name In n1|n2", false},
        {"@metadata.name NotIn n2|n3", false},
        {"@metadata.namespace In n1", false},
        {"@spec.unschedulable NotIn true", false},
    };
    struct fixture *fixture = *state;
    const struct label_view view = view_of(fixture, "n1", NODE_LABELS);
    check_terms(fixture, &view, ROWS, N_OF(ROWS));
}

static void test_field_metadata_name(void **state)
{
    static const struct term_row ROWS[] = {
        {"@metadata.name In n1", true},
        {"@metadata.name In n2", false},
        {"@metadata.name NotIn n1", false},
        {"@metadata.name NotIn n2", true},
        /* the same words as labels */
        {"metadata.name In n1", false},
        {"metadata.name In other", true},
    };
    struct fixture *fixture = *state;
    const struct label_view view = view_of(fixture, "n1", "metadata.name=other");
    check_terms(fixture, &view, ROWS, N_OF(ROWS));
}

static void test_terms_of_affinity(void **state)
{
    static const struct term_row ROWS[] = {
        {"zone In b OR zone In a", true},
        {"zone In b OR zone In c", false},
        {"zone In a AND gpus In 4 OR zone In a AND gpus In 8", true},
        {"zone In a AND gpus In 4 OR zone In b AND gpus In 8", false},
    };
    struct fixture *fixture = *state;
    const struct label_view view = view_of(fixture, "n1", NODE_LABELS);
    for (size_t i = 0; i < N_OF(ROWS); i++) {
        const struct node_selector selector = fixture_selector(fixture, ROWS[i].term);
        if (node_selector_holds(&selector, &view) != ROWS[i].holds)
            fail_msg("\"%s\" should %shold", ROWS[i].term, ROWS[i].holds ? "" : "not ");
    }
}

/* NodeSelectorTerm: "A null or empty node selector term matches no objects." */
static void test_empty_affinity_matches_no_node(void **state)
{
    struct fixture *fixture = *state;
    const struct label_view view = view_of(fixture, "n1", NODE_LABELS);
    const struct node_selector absent = {0};
    assert_true(node_selector_holds(&absent, &view));
    const struct node_selector without_terms = {.present = true};
    assert_false(node_selector_holds(&without_terms, &view));
    struct selector_term terms[2] = {{0}, {0}};
    const struct node_selector empty_terms = {true, terms, 2};
    assert_false(node_selector_holds(&empty_terms, &view));
    terms[1] = fixture_term(fixture, "zone In a");
    assert_true(node_selector_holds(&empty_terms, &view));
}

static void test_preferred_weights_add_up(void **state)
{
    struct fixture *fixture = *state;
    const struct label_view view = view_of(fixture, "n1", NODE_LABELS);
    const struct preferred_term terms[] = {
        {100, fixture_term(fixture, "zone In a")},
        {7, fixture_term(fixture, "zone In b")},
        {1, fixture_term(fixture, "gpus Gt 4 AND zone Exists")},
        {50, {0}}, /* without requirements it matches nothing */
    };
    assert_int_equal(preferred_weight(terms, N_OF(terms), &view), 101);
    assert_int_equal(preferred_weight(NULL, 0, &view), 0);
}

static void test_a_node_without_labels(void **state)
{
    static const struct term_row ROWS[] = {
        {"zone Exists", false},
        {"zone DoesNotExist", true},
        {"zone NotIn a", true},
        {"@metadata.name In n1", true},
    };
    struct fixture *fixture = *state;
    const struct label_view view = {.node_name = "n1", .policy = &fixture->policy};
    check_terms(fixture, &view, ROWS, N_OF(ROWS));
    assert_null(labels_find(NULL, 0, "zone"));
    labels_sort(NULL, 0);
}

static void test_labels_are_found_in_any_order(void **state)
{
    struct fixture *fixture = *state;
    const struct label_view view = view_of(fixture, "n1", "c=3,a=1,b=2,ab=12,B=22");
    assert_string_equal(labels_find(view.labels, view.n_labels, "a"), "1");
    assert_string_equal(labels_find(view.labels, view.n_labels, "ab"), "12");
    assert_string_equal(labels_find(view.labels, view.n_labels, "b"), "2");
    assert_string_equal(labels_find(view.labels, view.n_labels, "B"), "22");
    assert_string_equal(labels_find(view.labels, view.n_labels, "c"), "3");
    assert_null(labels_find(view.labels, view.n_labels, "A"));
    assert_null(labels_find(view.labels, view.n_labels, ""));
}

struct legacy_row {
    const char *label;
    const char *term;
    bool holds;
};

static void check_legacy(struct fixture *fixture, const struct legacy_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct label_view view = view_of(fixture, "n1", rows[i].label);
        const struct node_selector selector = fixture_legacy_selector(fixture, rows[i].term);
        if (node_selector_holds(&selector, &view) != rows[i].holds)
            fail_msg("\"%s\" should %shold on a node with %s", rows[i].term,
                     rows[i].holds ? "" : "not ", rows[i].label);
    }
}

/* The legacy annotation contains "Tesla K80", which cannot be a label value. */
static void test_legacy_values_are_models(void **state)
{
    static const struct legacy_row ROWS[] = {
        {"accelerator=Tesla-K80", "accelerator In Tesla K80", true},
        {"accelerator=nvidia-tesla-k80", "accelerator In Tesla K80", true},
        {"accelerator=Tesla-P100", "accelerator In Tesla K80|Tesla P100", true},
        {"accelerator=Tesla-V100", "accelerator In Tesla K80|Tesla P100", false},
        {"accelerator=nvidia-tesla-k80", "accelerator NotIn Tesla K80", false},
        {"accelerator=nvidia-tesla-p100", "accelerator NotIn Tesla K80", true},
        {"zone=a", "accelerator NotIn Tesla K80", true},
        {"zone=a", "accelerator In Tesla K80", false},
        /* must not match by substring */
        {"nvidia.com/gpu.product=NVIDIA-A100-SXM4-80GB", "nvidia.com/gpu.product In A10", false},
        {"nvidia.com/gpu.product=NVIDIA-L40S", "nvidia.com/gpu.product In L4|L40", false},
        {"nvidia.com/gpu.product=NVIDIA-H200", "nvidia.com/gpu.product In H20", false},
        {"nvidia.com/gpu.product=NVIDIA-A100-SXM4-80GB", "nvidia.com/gpu.product In A100", true},
        {"nvidia.com/gpu.product=NVIDIA-A100-SXM4-40GB", "nvidia.com/gpu.product In A100-80GB",
         false},
        {"accelerator=Tesla-K80", "accelerator Exists", true},
        {"accelerator=Tesla-K80", "accelerator DoesNotExist", false},
    };
    check_legacy(*state, ROWS, N_OF(ROWS));
}

static void test_legacy_values_without_model_are_text(void **state)
{
    static const struct legacy_row ROWS[] = {
        {"accelerator=nvidia", "accelerator In nvidia", true},
        {"accelerator=nvidia", "accelerator In NVIDIA", false},
        {"accelerator=nvidia", "accelerator In nvidia|Tesla K80", true},
        {"accelerator=nvidia", "accelerator In Tesla K80", false},
        {"accelerator=nvidia", "accelerator NotIn Tesla K80", true},
        {"accelerator=nvidia-tesla-k80", "accelerator In nvidia", false},
        {"accelerator=nvidia-tesla-k80", "accelerator In nvidia|Tesla K80", true},
        {"accelerator=nvidia", "accelerator NotIn nvidia", false},
        /* not a model label: compared as text */
        {"card=Tesla-K80", "card In Tesla K80", false},
        {"card=Tesla-K80", "card In Tesla-K80", true},
    };
    check_legacy(*state, ROWS, N_OF(ROWS));
}

/* The spec is compared as text: no node can have the value "Tesla K80". */
static void test_values_in_spec_are_text(void **state)
{
    static const struct term_row ROWS[] = {
        {"accelerator In Tesla K80", false},
        {"accelerator In tesla-k80", false},
        {"accelerator In Tesla-K80", true},
    };
    struct fixture *fixture = *state;
    const struct label_view view = view_of(fixture, "n1", "accelerator=Tesla-K80");
    check_terms(fixture, &view, ROWS, N_OF(ROWS));
}

static void test_legacy_values_are_resolved_by_aliases(void **state)
{
    struct fixture *fixture = *state;
    struct gpu_model_alias alias = {"old-faithful", "Tesla K80"};
    fixture->policy.aliases = &alias;
    fixture->policy.n_aliases = 1;
    static const struct legacy_row ROWS[] = {
        {"accelerator=old-faithful", "accelerator In Tesla K80", true},
        {"accelerator=Tesla-K80", "accelerator In old-faithful", true},
        {"accelerator=Tesla-P100", "accelerator In old-faithful", false},
    };
    check_legacy(fixture, ROWS, N_OF(ROWS));
    fixture->policy.aliases = NULL;
    fixture->policy.n_aliases = 0;
}

struct taint_row {
    const char *taint;
    const char *toleration;
    bool tolerated;
};

/* Source: k8s.io/api/core/v1, Toleration.ToleratesTaint. */
static void test_tolerations(void **state)
{
    static const struct taint_row ROWS[] = {
        {"dedicated=ml:NoSchedule", "dedicated=ml:NoSchedule", true},
        {"dedicated=ml:NoSchedule", "dedicated=ml", true},
        {"dedicated=ml:NoExecute", "dedicated=ml", true},
        {"dedicated=ml:NoSchedule", "dedicated=web:NoSchedule", false},
        {"dedicated=ml:NoSchedule", "other=ml:NoSchedule", false},
        {"dedicated=ml:NoSchedule", "dedicated=ml:NoExecute", false},
        {"dedicated=ml:NoExecute", "dedicated=ml:NoSchedule", false},
        {"dedicated=ml:PreferNoSchedule", "dedicated=ml:NoSchedule", false},
        {"dedicated=ml:NoSchedule", "dedicated:NoSchedule", true},
        {"dedicated=ml:NoSchedule", "dedicated", true},
        {"dedicated=ml:NoSchedule", "other", false},
        {"dedicated=ml:NoSchedule", "*", true},
        {"dedicated=ml:NoExecute", "*", true},
        {"dedicated=ml:NoSchedule", "*:NoExecute", false},
        {"dedicated=ml:NoExecute", "*:NoExecute", true},
        {"dedicated:NoSchedule", "dedicated=:NoSchedule", true},
        {"dedicated:NoSchedule", "dedicated=ml:NoSchedule", false},
        {"nvidia.com/gpu=present:NoSchedule", "nvidia.com/gpu", true},
        {"nvidia.com/gpu=present:NoSchedule", "nvidia.com/gpu=", false},
    };
    struct fixture *fixture = *state;
    for (size_t i = 0; i < N_OF(ROWS); i++) {
        size_t n = 0;
        const struct taint *taint = fixture_taints(fixture, ROWS[i].taint, &n);
        const struct toleration *one = fixture_tolerations(fixture, ROWS[i].toleration, &n);
        if (toleration_tolerates(one, taint) != ROWS[i].tolerated)
            fail_msg("%s should %stolerate %s", ROWS[i].toleration, ROWS[i].tolerated ? "" : "not ",
                     ROWS[i].taint);
    }
}

/* An Exists toleration may have no value. */
static void test_exists_needs_no_value(void **state)
{
    (void)state;
    const struct taint taint = {"dedicated", "ml", TAINT_NO_SCHEDULE};
    const struct toleration exists = {
        .key = "dedicated", .op = TOLERATION_EXISTS, .any_effect = true};
    assert_true(toleration_tolerates(&exists, &taint));
}

static void test_the_first_untolerated_taint_is_found(void **state)
{
    struct fixture *fixture = *state;
    size_t n_taints = 0;
    size_t n = 0;
    const struct taint *taints = fixture_taints(
        fixture, "soft=1:PreferNoSchedule a=1:NoSchedule b=1:NoExecute c=1:NoSchedule", &n_taints);
    const struct toleration *none = fixture_tolerations(fixture, "", &n);
    assert_ptr_equal(taints_first_untolerated(taints, n_taints, none, n), &taints[1]);
    const struct toleration *a = fixture_tolerations(fixture, "x a", &n);
    assert_ptr_equal(taints_first_untolerated(taints, n_taints, a, n), &taints[2]);
    const struct toleration *all = fixture_tolerations(fixture, "c a=1 b:NoExecute", &n);
    assert_null(taints_first_untolerated(taints, n_taints, all, n));
    assert_null(taints_first_untolerated(NULL, 0, NULL, 0));
}

/* PreferNoSchedule excludes no pod; it is only counted. */
static void test_prefer_no_schedule(void **state)
{
    struct fixture *fixture = *state;
    size_t n_taints = 0;
    size_t n = 0;
    const struct taint *taints = fixture_taints(
        fixture, "a=1:PreferNoSchedule b=1:PreferNoSchedule c=1:NoSchedule", &n_taints);
    assert_null(taints_first_untolerated(taints, 2, NULL, 0));
    assert_int_equal(taints_unpreferred(taints, n_taints, NULL, 0), 2);
    const struct toleration *one = fixture_tolerations(fixture, "a=1:PreferNoSchedule", &n);
    assert_int_equal(taints_unpreferred(taints, n_taints, one, n), 1);
    const struct toleration *hard = fixture_tolerations(fixture, "a=1:NoSchedule b:NoExecute", &n);
    assert_int_equal(taints_unpreferred(taints, n_taints, hard, n), 2);
    const struct toleration *all = fixture_tolerations(fixture, "*", &n);
    assert_int_equal(taints_unpreferred(taints, n_taints, all, n), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_operators_on_labels),
        TEST(test_gt_and_lt_compare_integers_only),
        TEST(test_requirements_rejected_by_kubernetes_match_nothing),
        TEST(test_field_metadata_name),
        TEST(test_terms_of_affinity),
        TEST(test_empty_affinity_matches_no_node),
        TEST(test_preferred_weights_add_up),
        TEST(test_a_node_without_labels),
        TEST(test_labels_are_found_in_any_order),
        TEST(test_legacy_values_are_models),
        TEST(test_legacy_values_without_model_are_text),
        TEST(test_values_in_spec_are_text),
        TEST(test_legacy_values_are_resolved_by_aliases),
        TEST(test_tolerations),
        TEST(test_exists_needs_no_value),
        TEST(test_the_first_untolerated_taint_is_found),
        TEST(test_prefer_no_schedule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
