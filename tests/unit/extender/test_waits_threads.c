/*
 * filter and waits with several threads: some ask for a pod whose victim terminates and reappears;
 * one feeds the ledger and ticks when woken, like the read loop. No change is missed, and each call
 * gets one answer. A separate executable, because it also runs under ThreadSanitizer.
 */
#include "base/clock.h"
#include "verbs_harness.h"

#include <pthread.h>
#include <stdatomic.h>

#define N_INQUIRERS 2
#define N_QUESTIONS 200

#define VICTIM POD_JSON("1", "", ",'nodeName':'a'", "")
#define ASKS "{'Pod':" POD_JSON("2", "", "", "'nominatedNodeName':'a'") ",'NodeNames':['a']}"

struct crowd {
    struct verbs verbs;
    pthread_mutex_t lock; /* of woken and n_through */
    pthread_cond_t changed;
    bool woken;
    unsigned n_through; /* threads that have finished */
};

struct inquirer {
    struct crowd *crowd;
    struct exchange *asked[N_QUESTIONS];
};

static void wake(void *context)
{
    struct crowd *crowd = context;
    (void)pthread_mutex_lock(&crowd->lock);
    crowd->woken = true;
    (void)pthread_cond_signal(&crowd->changed);
    (void)pthread_mutex_unlock(&crowd->lock);
}

static void *ask_many(void *context)
{
    struct inquirer *inquirer = context;
    struct crowd *crowd = inquirer->crowd;
    for (size_t i = 0; i < N_QUESTIONS; i++)
        inquirer->asked[i] = begin(&crowd->verbs, extender_filter, ASKS);
    (void)pthread_mutex_lock(&crowd->lock);
    crowd->n_through++;
    (void)pthread_cond_signal(&crowd->changed);
    (void)pthread_mutex_unlock(&crowd->lock);
    return NULL;
}

/* False: all threads have finished. */
static bool is_asked(struct crowd *crowd)
{
    (void)pthread_mutex_lock(&crowd->lock);
    while (!crowd->woken && crowd->n_through < N_INQUIRERS)
        (void)pthread_cond_wait(&crowd->changed, &crowd->lock);
    const bool asked = crowd->woken;
    crowd->woken = false;
    (void)pthread_mutex_unlock(&crowd->lock);
    return asked;
}

/* Each end of the victim ends a wait. The clock stands still, so no wait times out. */
static void *feed_and_tick(void *context)
{
    struct crowd *crowd = context;
    while (is_asked(crowd)) {
        ledger_removes(crowd->verbs.harness, VICTIM);
        (void)waits_tick(crowd->verbs.extender.waits, 1);
        ledger_shows(crowd->verbs.harness, VICTIM);
        (void)waits_tick(crowd->verbs.extender.waits, 1);
    }
    return NULL;
}

static size_t count_fits(struct inquirer *inquirer)
{
    size_t n_fits = 0;
    for (size_t i = 0; i < N_QUESTIONS; i++) {
        struct fake_answer answer = fake_end(inquirer->asked[i]);
        n_fits += strstr(answer.body, "\"NodeNames\":[\"a\"]") != NULL;
        fake_answer_fini(&answer);
    }
    return n_fits;
}

static void test_no_change_is_missed(void **state)
{
    (void)state;
    static struct inquirer inquirers[N_INQUIRERS];
    struct crowd crowd = {.woken = false};
    pthread_t threads[1 + N_INQUIRERS];
    verbs_init(&crowd.verbs);
    crowd.verbs.extender.waits = waits_new(wake, &crowd);
    (void)pthread_mutex_init(&crowd.lock, NULL);
    (void)pthread_cond_init(&crowd.changed, NULL);
    ledger_shows(crowd.verbs.harness, VICTIM);
    assert_int_equal(pthread_create(&threads[0], NULL, feed_and_tick, &crowd), 0);
    for (size_t i = 0; i < N_INQUIRERS; i++) {
        inquirers[i].crowd = &crowd;
        assert_int_equal(pthread_create(&threads[1 + i], NULL, ask_many, &inquirers[i]), 0);
    }
    for (size_t i = 0; i <= N_INQUIRERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    size_t n_fits = 0;
    for (size_t i = 0; i < N_INQUIRERS; i++)
        n_fits += count_fits(&inquirers[i]);
    assert_in_range(n_fits, 1, N_INQUIRERS * N_QUESTIONS);
    assert_int_equal(counter_value(&crowd.verbs.extender.n_waits_in_vain), 0);
    waits_free(crowd.verbs.extender.waits);
    verbs_fini(&crowd.verbs);
    (void)pthread_cond_destroy(&crowd.changed);
    (void)pthread_mutex_destroy(&crowd.lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_change_is_missed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
