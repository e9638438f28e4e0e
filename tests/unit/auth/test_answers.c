/* The cache of reviews: its times, size and eviction. */
#include "answers.h"
#include "unit.h"

#include <stdbool.h>
#include <string.h>

static struct answer_key key_of(unsigned token, unsigned asked)
{
    struct answer_key key = {{0}, {0}};
    memcpy(key.token, &token, sizeof token);
    memcpy(key.asked, &asked, sizeof asked);
    return key;
}

static const struct auth_answer ALLOWED = {.kind = ANSWER_ALLOWED};
static const struct auth_answer STRANGER = {.kind = ANSWER_STRANGER};
static const struct auth_answer FORBIDDEN = {.kind = ANSWER_FORBIDDEN, .user = "jane"};

static void keep(struct answers *answers, unsigned token, unsigned asked,
                 const struct auth_answer *answer, int64_t until_ms)
{
    const struct answer_key key = key_of(token, asked);
    answers_keep(answers, &key, answer, until_ms);
}

static enum answer_kind kind_of(const struct answers *answers, unsigned token, unsigned asked,
                                int64_t now_ms)
{
    const struct answer_key key = key_of(token, asked);
    return answers_find(answers, &key, now_ms).kind;
}

static void test_time(void **state)
{
    (void)state;
    struct answers answers = {0};
    assert_int_equal(kind_of(&answers, 1, 1, 0), ANSWER_NONE);
    keep(&answers, 1, 1, &ALLOWED, 100);
    assert_int_equal(kind_of(&answers, 1, 1, 99), ANSWER_ALLOWED);
    assert_int_equal(kind_of(&answers, 1, 1, 100), ANSWER_NONE);
    assert_int_equal(kind_of(&answers, 1, 2, 99), ANSWER_NONE);
    assert_int_equal(kind_of(&answers, 2, 1, 99), ANSWER_NONE);
    answers_fini(&answers);
}

/* A revoked right must not remain in the other table. */
static void test_the_latest_answer_counts(void **state)
{
    (void)state;
    struct answers answers = {0};
    const struct answer_key key = key_of(1, 1);
    keep(&answers, 1, 1, &ALLOWED, 100);
    keep(&answers, 1, 1, &FORBIDDEN, 50);
    assert_int_equal(kind_of(&answers, 1, 1, 49), ANSWER_FORBIDDEN);
    assert_string_equal(answers_find(&answers, &key, 49).user, "jane");
    assert_int_equal(kind_of(&answers, 1, 1, 50), ANSWER_NONE);
    keep(&answers, 1, 1, &ALLOWED, 100);
    keep(&answers, 1, 1, &ALLOWED, 200);
    assert_int_equal(kind_of(&answers, 1, 1, 150), ANSWER_ALLOWED);
    answers_fini(&answers);
}

static void test_accepted_tokens_stay_known_after_their_answers_expire(void **state)
{
    (void)state;
    struct answers answers = {0};
    const struct answer_key good = key_of(1, 7);
    const struct answer_key bad = key_of(2, 7);
    keep(&answers, 1, 1, &ALLOWED, 100);
    keep(&answers, 2, 1, &STRANGER, 100);
    assert_true(answers_know_token(&answers, &good));
    assert_false(answers_know_token(&answers, &bad));
    keep(&answers, 1, 1, &FORBIDDEN, 100);
    assert_false(answers_know_token(&answers, &good));
    answers_fini(&answers);
}

static void test_the_oldest_answer_is_evicted(void **state)
{
    (void)state;
    struct answers answers = {0};
    for (unsigned token = 0; token < ANSWERS_MAX; token++)
        keep(&answers, token, 1, &ALLOWED, 100);
    keep(&answers, 0, 1, &ALLOWED, 100); /* now the youngest */
    keep(&answers, ANSWERS_MAX, 1, &ALLOWED, 100);
    assert_int_equal(kind_of(&answers, 0, 1, 0), ANSWER_ALLOWED);
    assert_int_equal(kind_of(&answers, 1, 1, 0), ANSWER_NONE);
    assert_int_equal(kind_of(&answers, 2, 1, 0), ANSWER_ALLOWED);
    assert_int_equal(kind_of(&answers, ANSWERS_MAX, 1, 0), ANSWER_ALLOWED);
    answers_fini(&answers);
}

static void test_rejections_evict_only_rejections(void **state)
{
    (void)state;
    struct answers answers = {0};
    keep(&answers, 1, 1, &ALLOWED, 100);
    keep(&answers, 2, 1, &FORBIDDEN, 100);
    for (unsigned token = 10; token < 10 + ANSWERS_MAX; token++)
        keep(&answers, token, 1, &STRANGER, 100);
    assert_int_equal(kind_of(&answers, 1, 1, 0), ANSWER_ALLOWED);
    assert_int_equal(kind_of(&answers, 2, 1, 0), ANSWER_NONE);
    answers_fini(&answers);
}

static void test_one_token_evicts_only_its_own_answers(void **state)
{
    (void)state;
    struct answers answers = {0};
    keep(&answers, 1, 1, &ALLOWED, 100);
    for (unsigned asked = 0; asked < 2 * ANSWERS_MAX; asked++)
        keep(&answers, 2, asked, &ALLOWED, 100);
    assert_int_equal(kind_of(&answers, 1, 1, 0), ANSWER_ALLOWED);
    assert_int_equal(kind_of(&answers, 2, 2 * ANSWERS_MAX - 1, 0), ANSWER_ALLOWED);
    assert_int_equal(kind_of(&answers, 2, 2 * ANSWERS_MAX - ANSWERS_PER_TOKEN_MAX, 0),
                     ANSWER_ALLOWED);
    assert_int_equal(kind_of(&answers, 2, 2 * ANSWERS_MAX - ANSWERS_PER_TOKEN_MAX - 1, 0),
                     ANSWER_NONE);
    answers_fini(&answers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time),
        cmocka_unit_test(test_the_latest_answer_counts),
        cmocka_unit_test(test_accepted_tokens_stay_known_after_their_answers_expire),
        cmocka_unit_test(test_the_oldest_answer_is_evicted),
        cmocka_unit_test(test_rejections_evict_only_rejections),
        cmocka_unit_test(test_one_token_evicts_only_its_own_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
