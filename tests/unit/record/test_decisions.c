/* record/decisions: what is kept and found, and text in decisions. */
#include "base/mem.h"
#include "record/decisions.h"
#include "unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const struct decision_query ALL = {.verb = N_DECISION_VERBS, .limit = SIZE_MAX};

static void add(struct decisions *decisions, const char *name, enum decision_verb verb)
{
    const struct decision decision = {.verb = verb, .namespace_ = "ml", .name = name, .uid = "u"};
    decisions_add(decisions, &decision);
}

/* Expects the names, each followed by a space. */
static void assert_found(struct decisions *decisions, const struct decision_query *query,
                         const char *expected)
{
    struct arena *arena = arena_new();
    struct decision *found = NULL;
    const char *names = "";
    const size_t n = decisions_find(decisions, query, arena, &found);
    for (size_t i = 0; i < n; i++)
        names = arena_printf(arena, "%s%s ", names, found[i].name);
    assert_string_equal(names, expected);
    arena_free(arena);
}

static void test_the_newest_come_first_and_the_oldest_are_evicted(void **state)
{
    (void)state;
    struct decisions *decisions = decisions_new(3);
    assert_int_equal(decisions_keep(decisions), 3);
    assert_found(decisions, &ALL, "");
    add(decisions, "a", DECISION_FILTER);
    add(decisions, "b", DECISION_FILTER);
    assert_found(decisions, &ALL, "b a ");
    add(decisions, "c", DECISION_FILTER);
    add(decisions, "d", DECISION_FILTER);
    add(decisions, "e", DECISION_FILTER);
    assert_found(decisions, &ALL, "e d c ");
    decisions_free(decisions);
}

static void test_capacity_0_stores_nothing(void **state)
{
    (void)state;
    struct decisions *decisions = decisions_new(0);
    add(decisions, "a", DECISION_FILTER);
    assert_int_equal(decisions_keep(decisions), 0);
    assert_found(decisions, &ALL, "");
    decisions_free(decisions);
}

static void test_queries_select_decisions(void **state)
{
    (void)state;
    struct decisions *decisions = decisions_new(8);
    add(decisions, "a", DECISION_FILTER);
    add(decisions, "a", DECISION_BIND);
    add(decisions, "b", DECISION_FILTER);
    add(decisions, "c", DECISION_FILTER);
    const struct decision other = {.namespace_ = "web", .name = "a", .verb = DECISION_PRIORITIZE};
    decisions_add(decisions, &other);
    struct decision_query query = ALL;
    query.name = "a";
    assert_found(decisions, &query, "a a a ");
    query.namespace_ = "ml";
    assert_found(decisions, &query, "a a ");
    query.verb = DECISION_BIND;
    assert_found(decisions, &query, "a ");
    query = ALL;
    query.verb = DECISION_FILTER;
    query.limit = 2;
    assert_found(decisions, &query, "c b ");
    query.limit = 0;
    assert_found(decisions, &query, "");
    decisions_free(decisions);
}

/* More than one hold of the lock covers. */
static void test_many_decisions_are_kept_in_order(void **state)
{
    (void)state;
    struct decisions *decisions = decisions_new(1000);
    struct arena *arena = arena_new();
    struct decision *found = NULL;
    for (int i = 0; i < 2500; i++)
        add(decisions, i % 100 == 0 ? "rare" : "x", DECISION_FILTER);
    assert_int_equal(decisions_find(decisions, &ALL, arena, &found), 1000);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(found[i].number, 2500 - i);
    assert_found(decisions,
                 &(struct decision_query){.name = "rare", .verb = N_DECISION_VERBS, .limit = 3},
                 "rare rare rare ");
    arena_free(arena);
    decisions_free(decisions);
}

static void add_of_group(struct decisions *decisions, const char *name, enum decision_verb verb)
{
    decisions_add(decisions,
                  &(struct decision){.verb = verb, .name = name, .uid = name, .group = "g"});
}

/* kube-scheduler may ask a thousand times a second. */
static void test_a_group_evicts_no_other_decisions(void **state)
{
    (void)state;
    struct decisions *decisions = decisions_new(8);
    struct arena *arena = arena_new();
    struct decision *found = NULL;
    add(decisions, "a", DECISION_FILTER);
    add(decisions, "b", DECISION_FILTER);
    for (size_t i = 0; i < 1000; i++) {
        add_of_group(decisions, "m-0", DECISION_FILTER);
        add_of_group(decisions, "m-1", DECISION_FILTER);
        add_of_group(decisions, "m-1", DECISION_PRIORITIZE);
    }
    assert_found(decisions, &ALL, "m-1 m-1 m-0 b a ");
    assert_int_equal(decisions_find(decisions, &ALL, arena, &found), 5);
    assert_int_equal(found[0].verb, DECISION_PRIORITIZE);
    assert_int_equal(found[0].number, 3002);
    assert_int_equal(found[2].n_repeats, 999);
    assert_string_equal(found[2].group, "g");
    assert_int_equal(found[4].n_repeats, 0);
    for (size_t i = 0; i < 8; i++)
        add(decisions, "x", DECISION_FILTER);
    add_of_group(decisions, "m-0", DECISION_FILTER);
    assert_found(decisions, &ALL, "m-0 x x x x x x x ");
    arena_free(arena);
    decisions_free(decisions);
}

static void test_everything_is_copied(void **state)
{
    (void)state;
    struct decisions *decisions = decisions_new(2);
    struct arena *arena = arena_new();
    struct decision *found = NULL;
    char node[] = "n-1";
    char error[] = "why";
    struct decision decision = {.verb = DECISION_PRIORITIZE,
                                .at_ms = 7,
                                .took_us = 8,
                                .uid = "u",
                                .node = node,
                                .error = error,
                                .ledger_version = 9,
                                .n_asked = 5,
                                .n_handed_on = 4,
                                .best = {{node, 10, 0.5}, {error, 9, 1}},
                                .n_best = 2};
    decision.verdicts[REASON_GPU_FREE] = 3;
    decisions_add(decisions, &decision);
    memset(node, 'x', sizeof node - 1);
    memset(error, 'x', sizeof error - 1);
    assert_int_equal(decisions_find(decisions, &ALL, arena, &found), 1);
    decisions_free(decisions);
    assert_int_equal(found->at_ms + found->took_us, 15);
    assert_string_equal(found->name, "");
    assert_string_equal(found->node, "n-1");
    assert_string_equal(found->error, "why");
    assert_string_equal(found->best[0].node, "n-1");
    assert_string_equal(found->best[1].node, "why");
    assert_int_equal(found->best[0].score, 10);
    assert_int_equal(found->verdicts[REASON_GPU_FREE], 3);
    assert_int_equal(found->ledger_version + found->n_asked + found->n_handed_on, 18);
    arena_free(arena);
}

static void test_long_texts_are_cut_between_characters(void **state)
{
    (void)state;
    struct decisions *decisions = decisions_new(1);
    struct arena *arena = arena_new();
    struct decision *found = NULL;
    char text[1001] = "";
    for (size_t i = 0; i + 2 < sizeof text; i += 2) {
        text[i] = '\xc3';
        text[i + 1] = '\xa9';
    }
    const struct decision decision = {
        .namespace_ = text, .name = text, .uid = text, .node = text, .error = text};
    decisions_add(decisions, &decision);
    assert_int_equal(decisions_find(decisions, &ALL, arena, &found), 1);
    assert_int_equal(strlen(found->namespace_), 62);
    assert_int_equal(strlen(found->name), 252);
    assert_int_equal(strlen(found->uid), 62);
    assert_int_equal(strlen(found->node), 252);
    assert_int_equal(strlen(found->error), DECISION_ERROR_BYTES - 1);
    arena_free(arena);
    decisions_free(decisions);
}

static void *add_many(void *decisions)
{
    for (int i = 0; i < 2000; i++)
        add(decisions, i % 2 == 0 ? "even" : "odd", DECISION_FILTER);
    return NULL;
}

static void test_decisions_are_found_during_additions(void **state)
{
    (void)state;
    struct decisions *decisions = decisions_new(100);
    pthread_t adds;
    assert_int_equal(pthread_create(&adds, NULL, add_many, decisions), 0);
    for (int i = 0; i < 20; i++) {
        struct arena *arena = arena_new();
        struct decision *found = NULL;
        const size_t n = decisions_find(decisions, &ALL, arena, &found);
        for (size_t k = 1; k < n; k++)
            assert_true(found[k].number < found[k - 1].number);
        for (size_t k = 0; k < n; k++)
            assert_string_equal(found[k].name, found[k].number % 2 == 1 ? "even" : "odd");
        arena_free(arena);
    }
    (void)pthread_join(adds, NULL);
    decisions_free(decisions);
}

static void test_verbs_by_name(void **state)
{
    (void)state;
    for (enum decision_verb verb = 0; verb < N_DECISION_VERBS; verb++)
        assert_int_equal(decision_verb_of(decision_verb_name(verb)), verb);
    assert_int_equal(decision_verb_of("Filter"), N_DECISION_VERBS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_newest_come_first_and_the_oldest_are_evicted),
        cmocka_unit_test(test_capacity_0_stores_nothing),
        cmocka_unit_test(test_queries_select_decisions),
        cmocka_unit_test(test_many_decisions_are_kept_in_order),
        cmocka_unit_test(test_a_group_evicts_no_other_decisions),
        cmocka_unit_test(test_everything_is_copied),
        cmocka_unit_test(test_long_texts_are_cut_between_characters),
        cmocka_unit_test(test_decisions_are_found_during_additions),
        cmocka_unit_test(test_verbs_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
