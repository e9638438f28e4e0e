/* bind_attempt: see bind_attempt.h. */
#include "extender/bind/bind_attempt.h"
#include "base/clock.h"

/* With less time left, no POST is sent. */
#define MIN_POST_MS 100
/* How long to wait for a POST's answer after its API server timeout. The rest of the caller's time
 * is for the GET that settles the outcome. */
#define POST_GRACE_MS 500
/* Allows for the API server's clock, which times the POST out. */
#define POST_LIFE_MARGIN_MS 1000
#define GET_MS 10000
#define MAX_RETRY_AFTER_MS 60000
/* Waits of the SHORT back-off, 525 to 700 ms together. */
#define CLAIM_WAITS 3

struct back_off {
    int64_t first_ms;
    int64_t max_ms;
};
/* SHORT while a caller waits, else LONG. */
static const struct back_off SHORT = {100, 2000};
static const struct back_off LONG = {1000, 30000};

/* splitmix64 (Steele, Lea, Flood, 2014). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
}

/* Doubles, minus up to a quarter, so that simultaneous failures do not retry together. */
static int64_t next_delay_ms(struct bind_attempt *attempt)
{
    const struct back_off *back_off = attempt->background ? &LONG : &SHORT;
    int64_t delay_ms = back_off->first_ms;
    for (unsigned i = 0; i < attempt->n_delays && delay_ms < back_off->max_ms; i++)
        delay_ms *= 2;
    delay_ms = delay_ms < back_off->max_ms ? delay_ms : back_off->max_ms;
    attempt->n_delays++;
    return delay_ms - (int64_t)(next_random(&attempt->random) % (uint64_t)(delay_ms / 4));
}

static int64_t at_least(int64_t delay_ms, int64_t retry_after_ms)
{
    if (retry_after_ms > MAX_RETRY_AFTER_MS)
        retry_after_ms = MAX_RETRY_AFTER_MS;
    return delay_ms > retry_after_ms ? delay_ms : retry_after_ms;
}

static struct bind_step under_way(struct bind_attempt *attempt, enum bind_state state,
                                  enum bind_next next, int64_t timeout_ms)
{
    attempt->state = state;
    attempt->wake_ms = CLOCK_NEVER;
    return (struct bind_step){.next = next, .timeout_ms = timeout_ms};
}

static struct bind_step wait_until(struct bind_attempt *attempt, enum bind_state state,
                                   int64_t wake_ms)
{
    attempt->state = state;
    attempt->wake_ms = wake_ms;
    return (struct bind_step){.next = BIND_WAIT};
}

static struct bind_step reserve(struct bind_attempt *attempt)
{
    return under_way(attempt, BIND_RESERVING, BIND_RESERVE, 0);
}

static struct bind_step post(struct bind_attempt *attempt, int64_t now_ms)
{
    const int64_t left_ms = attempt->until_ms - now_ms;
    const int64_t useful_ms = attempt->timing->post_life_ms + POST_GRACE_MS;
    attempt->n_posts++;
    return under_way(attempt, BIND_POSTING, BIND_POST, left_ms < useful_ms ? left_ms : useful_ms);
}

static struct bind_step ask(struct bind_attempt *attempt, int64_t now_ms)
{
    const int64_t left_ms = attempt->until_ms - now_ms;
    attempt->asked_ms = now_ms;
    return under_way(attempt, BIND_ASKING, BIND_GET,
                     left_ms >= MIN_POST_MS && left_ms < GET_MS ? left_ms : GET_MS);
}

/* Answers all waiting callers with this step. */
static struct bind_step reporting(struct bind_attempt *attempt, struct bind_step step,
                                  enum bind_report report, int64_t now_ms)
{
    step.report = report;
    if (attempt->until_ms > now_ms)
        attempt->until_ms = now_ms;
    return step;
}

static struct bind_step fail(struct bind_attempt *attempt, int64_t now_ms)
{
    const struct bind_step end = {.next = BIND_END, .release = attempt->holds};
    return reporting(attempt, end, BIND_REPORT_FAILED, now_ms);
}

/* A reservation stays until the ledger sees the pod; reconcile() watches over it. */
static struct bind_step bound(struct bind_attempt *attempt, int64_t now_ms)
{
    struct bind_step step = {.next = BIND_END};
    attempt->quiet_ms = 0;
    attempt->ambiguous = false;
    if (attempt->holds)
        step = wait_until(attempt, BIND_BOUND, now_ms + attempt->timing->confirm_ms);
    return reporting(attempt, step, BIND_REPORT_BOUND, now_ms);
}

static struct bind_step ask_later(struct bind_attempt *attempt, int64_t now_ms,
                                  int64_t retry_after_ms)
{
    const bool background = attempt->until_ms <= now_ms;
    if (background && !attempt->background)
        attempt->n_delays = 0;
    attempt->background = background;
    int64_t delay_ms = next_delay_ms(attempt);
    if (attempt->quiet_ms > now_ms && delay_ms > attempt->quiet_ms - now_ms)
        delay_ms = attempt->quiet_ms - now_ms;
    return wait_until(attempt, BIND_WAITING_TO_ASK, now_ms + at_least(delay_ms, retry_after_ms));
}

/* Another POST would fail, or there is no time for one. */
static struct bind_step no_more_posts(struct bind_attempt *attempt, int64_t now_ms)
{
    attempt->refused = true;
    return attempt->quiet_ms > 0 ? ask(attempt, now_ms) : fail(attempt, now_ms);
}

static bool is_time_to_post(const struct bind_attempt *attempt, int64_t at_ms)
{
    return !attempt->refused && attempt->until_ms - at_ms >= MIN_POST_MS;
}

static struct bind_step post_later(struct bind_attempt *attempt, int64_t now_ms,
                                   int64_t retry_after_ms)
{
    const int64_t wake_ms = now_ms + at_least(next_delay_ms(attempt), retry_after_ms);
    if (is_time_to_post(attempt, wake_ms))
        return wait_until(attempt, BIND_WAITING_TO_POST, wake_ms);
    return no_more_posts(attempt, now_ms);
}

struct bind_step bind_attempt_begin(struct bind_attempt *attempt, const struct bind_timing *timing,
                                    uint64_t seed, int64_t until_ms)
{
    *attempt = (struct bind_attempt){.timing = timing, .until_ms = until_ms, .random = seed};
    return reserve(attempt);
}

struct bind_step bind_attempt_check(struct bind_attempt *attempt, const struct bind_timing *timing,
                                    uint64_t seed, int64_t now_ms)
{
    *attempt = (struct bind_attempt){
        .timing = timing, .until_ms = now_ms, .random = seed, .holds = true, .background = true};
    return ask(attempt, now_ms);
}

struct bind_step bind_attempt_joined(struct bind_attempt *attempt, int64_t now_ms, int64_t until_ms)
{
    const bool was_alone = attempt->until_ms <= now_ms;
    if (until_ms > attempt->until_ms)
        attempt->until_ms = until_ms;
    if (!was_alone)
        return (struct bind_step){.next = BIND_WAIT};
    attempt->refused = false;
    attempt->background = false;
    attempt->n_delays = 0;
    if (attempt->wake_ms == CLOCK_NEVER)
        return (struct bind_step){.next = BIND_WAIT};
    return reserve(attempt);
}

struct bind_step bind_attempt_hurry(struct bind_attempt *attempt, int64_t now_ms)
{
    if (attempt->wake_ms == CLOCK_NEVER)
        return (struct bind_step){.next = BIND_WAIT};
    return ask(attempt, now_ms);
}

struct bind_step bind_attempt_time(struct bind_attempt *attempt, int64_t now_ms)
{
    if (attempt->state == BIND_WAITING_TO_POST)
        return is_time_to_post(attempt, now_ms) ? reserve(attempt) : no_more_posts(attempt, now_ms);
    if (!attempt->holds && attempt->until_ms <= now_ms)
        return fail(attempt, now_ms);
    return ask(attempt, now_ms);
}

bool bind_attempt_has_waited_for_claims(const struct bind_attempt *attempt)
{
    return attempt->n_delays >= CLAIM_WAITS;
}

struct bind_step bind_attempt_reserved(struct bind_attempt *attempt, int64_t now_ms,
                                       enum reserve_verdict verdict, bool with_facts)
{
    if (verdict == RESERVE_HELD) {
        attempt->holds = true;
        return is_time_to_post(attempt, now_ms) ? post(attempt, now_ms)
                                                : no_more_posts(attempt, now_ms);
    }
    if (verdict == RESERVE_HELD_REFUSED) { /* an earlier POST may have bound it: only a GET tells */
        attempt->holds = attempt->refused = true;
        return ask(attempt, now_ms);
    }
    if (verdict == RESERVE_POD_UNKNOWN && !with_facts) {
        attempt->wants_facts = true;
        return ask(attempt, now_ms);
    }
    if (verdict == RESERVE_CLAIMS_UNSEEN || verdict == RESERVE_AWAITS_FIRST)
        return post_later(attempt, now_ms, 0);
    if (verdict == RESERVE_BOUND_HERE) {
        attempt->holds = false; /* counted as usage now */
        return bound(attempt, now_ms);
    }
    attempt->refused = true;
    if (attempt->quiet_ms == 0)
        return fail(attempt, now_ms);
    return reporting(attempt, ask_later(attempt, now_ms, 0), BIND_REPORT_FAILED, now_ms);
}

struct bind_step bind_attempt_posted(struct bind_attempt *attempt, int64_t now_ms,
                                     enum bind_posted posted, int64_t retry_after_ms)
{
    attempt->ambiguous = posted == POSTED_CONFLICT || posted == POSTED_UNKNOWN;
    switch (posted) {
    case POSTED_BOUND:
        return bound(attempt, now_ms);
    case POSTED_GONE:
        return fail(attempt, now_ms);
    case POSTED_CONFLICT:
        attempt->refused = true;
        return ask(attempt, now_ms);
    case POSTED_REFUSED:
        return no_more_posts(attempt, now_ms);
    case POSTED_UNKNOWN:
        attempt->quiet_ms = now_ms + attempt->timing->post_life_ms + POST_LIFE_MARGIN_MS;
        return ask(attempt, now_ms);
    case POSTED_THROTTLED:
    case POSTED_NOT_SENT:
    default:
        return post_later(attempt, now_ms, retry_after_ms);
    }
}

/* All held POSTs are sent at one moment, faster than kube-scheduler ever sends. With little time
 * left most would time out, close their connections and leave unknown outcomes. */
struct bind_step bind_attempt_held(struct bind_attempt *attempt, int64_t now_ms, int64_t until_ms)
{
    attempt->n_posts--;
    if (attempt->until_ms - until_ms >= attempt->timing->post_life_ms)
        return wait_until(attempt, BIND_WAITING_TO_POST, until_ms);
    return no_more_posts(attempt, now_ms);
}

int64_t bind_attempt_quiet_ms(const struct bind_attempt *attempt, int64_t now_ms)
{
    if (attempt->state == BIND_POSTING)
        return now_ms + attempt->timing->post_life_ms + POST_LIFE_MARGIN_MS;
    return attempt->quiet_ms;
}

static struct bind_step found_unbound(struct bind_attempt *attempt, int64_t now_ms)
{
    if (attempt->wants_facts && is_time_to_post(attempt, now_ms)) {
        attempt->wants_facts = false;
        return reserve(attempt);
    }
    const int64_t wake_ms = now_ms + next_delay_ms(attempt);
    if (is_time_to_post(attempt, wake_ms))
        return wait_until(attempt, BIND_WAITING_TO_POST, wake_ms);
    if (attempt->asked_ms >= attempt->quiet_ms)
        return fail(attempt, now_ms);
    return reporting(attempt, ask_later(attempt, now_ms, 0), BIND_REPORT_FAILED, now_ms);
}

struct bind_step bind_attempt_found(struct bind_attempt *attempt, int64_t now_ms,
                                    enum bind_finding finding, bool finished,
                                    int64_t retry_after_ms)
{
    switch (finding) {
    case FOUND_BOUND:
        break;
    case FOUND_UNBOUND:
        return found_unbound(attempt, now_ms);
    case FOUND_NOTHING:
        if (!attempt->holds && attempt->until_ms <= now_ms)
            return fail(attempt, now_ms);
        return ask_later(attempt, now_ms, retry_after_ms);
    case FOUND_ELSEWHERE:
    case FOUND_GONE:
    case N_BIND_FINDINGS:
    default:
        return fail(attempt, now_ms);
    }
    if (!finished)
        return bound(attempt, now_ms);
    struct bind_step end = fail(attempt, now_ms);
    end.report = BIND_REPORT_BOUND;
    return end;
}
