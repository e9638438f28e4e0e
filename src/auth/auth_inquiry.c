/* auth_inquiry: reviews in progress. See auth_priv.h. */
#include "auth_priv.h"
#include "base/log.h"
#include "base/mem.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* New reviews of one network: per second, and at once. */
#define PER_S 10
#define BURST 64
#define TICKET_MILLI ((int64_t)1000)
#define BURST_MILLI (BURST * TICKET_MILLI)

static void refill(struct stranger *stranger, int64_t now_ms)
{
    const int64_t passed_ms = now_ms - stranger->seen_ms;
    if (passed_ms <= 0)
        return;
    if (passed_ms * PER_S > BURST_MILLI - stranger->tickets_milli)
        stranger->tickets_milli = BURST_MILLI;
    else
        stranger->tickets_milli += passed_ms * PER_S;
    stranger->seen_ms = now_ms;
}

static bool is_idle(const struct stranger *stranger)
{
    return stranger->n_inquiries == 0 && stranger->n_waiting == 0;
}

/* Never NULL; valid until the next call unless something of it is in progress. now_ms: above 0. */
static struct stranger *strangers_find(struct strangers *strangers, uint64_t network,
                                       int64_t now_ms)
{
    struct stranger *oldest = NULL;
    for (size_t i = 0; i < STRANGERS_MAX; i++) {
        struct stranger *stranger = &strangers->all[i];
        if (stranger->network == network && stranger->seen_ms > 0) {
            refill(stranger, now_ms);
            return stranger;
        }
        if (is_idle(stranger) && (!oldest || stranger->seen_ms < oldest->seen_ms))
            oldest = stranger;
    }
    assert(oldest);
    *oldest = (struct stranger){network, now_ms, .tickets_milli = BURST_MILLI};
    return oldest;
}

/* Whether its places are taken: for an exchange, and for the inquiry that it would begin. */
static bool stranger_is_full(const struct stranger *stranger, bool begins)
{
    return stranger->n_waiting >= WAITING_OF_STRANGERS_MAX / 2 ||
           (begins && stranger->n_inquiries >= INQUIRIES_OF_STRANGERS_MAX / 2);
}

static bool stranger_has_ticket(const struct stranger *stranger)
{
    return stranger->tickets_milli >= TICKET_MILLI;
}

static void stranger_take_ticket(struct stranger *stranger)
{
    stranger->tickets_milli -= TICKET_MILLI;
}

/* Both reviews together; Kubernetes' own servers wait as long. */
#define INQUIRY_MS 10000
/* Reviews in progress at once, and exchanges that wait for them: each holds a connection and a
 * body. A part of both is reserved for who is no stranger. */
#define INQUIRIES_MAX 32
#define WAITING_MAX 256
/* Interval of the warning about failures. */
#define LOG_AGAIN_MS 60000

/* ---- with the lock held ---- */

static struct inquiry *find_inquiry(const struct auth *auth, const struct answer_key *key)
{
    struct inquiry *inquiry = NULL;
    HASH_FIND(hh, auth->inquiries, key, sizeof *key, inquiry);
    return inquiry;
}

/* NULL: no stranger. A token was allowed recently, or a front proxy has authenticated the user. */
static struct stranger *stranger_of(struct auth *auth, const struct asking *asking, int64_t now_ms)
{
    if (asking->question || answers_know_token(&auth->answers, &asking->key))
        return NULL;
    return strangers_find(&auth->strangers, asking->network, now_ms);
}

enum inquiry_room auth_inquiry_room(struct auth *auth, const struct asking *asking, int64_t now_ms)
{
    const bool begins = !find_inquiry(auth, &asking->key);
    const struct stranger *stranger = stranger_of(auth, asking, now_ms);
    const size_t n = HASH_COUNT(auth->inquiries) + (begins ? 1 : 0);
    if (n > (stranger ? INQUIRIES_OF_STRANGERS_MAX : INQUIRIES_MAX) ||
        auth->n_waiting >= (stranger ? WAITING_OF_STRANGERS_MAX : WAITING_MAX) ||
        (stranger && stranger_is_full(stranger, begins)))
        return ROOM_FULL;
    return !begins || !stranger || stranger_has_ticket(stranger) ? ROOM_YES : ROOM_LIMITED;
}

static void wait_for(struct inquiry *inquiry, const struct auth_question *question,
                     struct stranger *stranger, struct exchange *exchange)
{
    struct waiting *waiting = ARENA_NEW(exchange_arena(exchange), struct waiting);
    waiting->exchange = exchange;
    waiting->question = question;
    waiting->stranger = stranger;
    if (stranger)
        stranger->n_waiting++;
    LL_APPEND(inquiry->waiting, waiting);
    inquiry->auth->n_waiting++;
}

static struct inquiry *inquiry_new(struct auth *auth, const struct asking *asking,
                                   struct stranger *stranger, int64_t now_ms)
{
    struct inquiry *inquiry = MEM_NEW(struct inquiry);
    inquiry->auth = auth;
    inquiry->asking = *asking;
    inquiry->began_ms = now_ms;
    inquiry->stranger = stranger;
    if (stranger) {
        stranger_take_ticket(stranger);
        stranger->n_inquiries++;
    }
    HASH_ADD(hh, auth->inquiries, asking.key, sizeof asking->key, inquiry);
    return inquiry;
}

struct inquiry *auth_inquiry_join(struct auth *auth, const struct asking *asking,
                                  struct exchange *exchange, int64_t now_ms)
{
    struct inquiry *inquiry = find_inquiry(auth, &asking->key);
    struct stranger *stranger = stranger_of(auth, asking, now_ms);
    const bool is_new = !inquiry;
    if (is_new)
        inquiry = inquiry_new(auth, asking, stranger, now_ms);
    wait_for(inquiry, asking->question, stranger, exchange);
    return is_new ? inquiry : NULL;
}

static void keep(struct inquiry *inquiry, const struct auth_answer *answer)
{
    struct auth *auth = inquiry->auth;
    const int64_t for_ms =
        answer->kind == ANSWER_ALLOWED ? auth->settings.allowed_ms : auth->settings.refused_ms;
    /* Kept even with lifetime 0: it marks the token as known. */
    if (answer->kind == ANSWER_ALLOWED || (answer->kind != ANSWER_NONE && for_ms > 0))
        answers_keep(&auth->answers, &inquiry->asking.key, answer, inquiry->began_ms + for_ms);
}

/* Returns the waiting exchanges; the caller frees the inquiry. */
static struct waiting *end_inquiry(struct inquiry *inquiry)
{
    struct auth *auth = inquiry->auth;
    const struct waiting *waiting = NULL;
    LL_FOREACH (inquiry->waiting, waiting) {
        auth->n_waiting--;
        if (waiting->stranger)
            waiting->stranger->n_waiting--;
    }
    if (inquiry->stranger)
        inquiry->stranger->n_inquiries--;
    HASH_DEL(auth->inquiries, inquiry);
    return inquiry->waiting;
}

/* ---- without the lock, on the sender's thread ---- */

static void conclude(struct inquiry *inquiry, const struct auth_answer *answer, int64_t now_ms)
{
    struct auth *auth = inquiry->auth;
    mutex_lock(&auth->lock);
    keep(inquiry, answer);
    struct waiting *waiting = end_inquiry(inquiry);
    mutex_unlock(&auth->lock);
    review_user_fini(&inquiry->user);
    free(inquiry);
    while (waiting) {
        struct waiting *next = waiting->next; /* freed with its exchange */
        auth_settle(auth, waiting->exchange, waiting->question, answer, now_ms);
        waiting = next;
    }
}

static void log_failure(struct auth *auth, enum review_kind kind, const char *why, int64_t now_ms)
{
    mutex_lock(&auth->lock);
    const bool is_news = now_ms >= auth->log_ms;
    if (is_news)
        auth->log_ms = now_ms + LOG_AGAIN_MS;
    mutex_unlock(&auth->lock);
    if (is_news)
        LOG(LOG_WARN, "auth", LOG_MSG("users' tokens cannot be checked"),
            LOG_STR("review", auth_review_name(kind)), LOG_STR("err", why));
}

static void send_review(struct inquiry *inquiry, const char *path, const char *body, int64_t now_ms,
                        kube_done *done)
{
    const struct kube_sender *sender = &inquiry->auth->sender;
    const struct kube_request request = {
        .method = "POST",
        .path = path,
        .body = body,
        .body_len = strlen(body),
        .timeout_ms = inquiry->began_ms + INQUIRY_MS - now_ms,
        .only_asks = true,
        .secret = true,
    };
    sender->send(sender->sender, &request, done, inquiry);
}

static void note(struct inquiry *inquiry, enum review_kind kind, enum review_result result,
                 const char *why, int64_t now_ms)
{
    counter_add(&inquiry->auth->reviews[kind][result], 1);
    if (result == REVIEW_FAILED)
        log_failure(inquiry->auth, kind, why, now_ms);
}

static const char *user_of(const struct inquiry *inquiry)
{
    const struct auth_question *question = inquiry->asking.question;
    return question ? question->user : inquiry->user.name;
}

static void take_access_review(void *context, const struct kube_answer *kube_answer)
{
    struct inquiry *inquiry = context;
    struct auth_answer answer = {.kind = ANSWER_NONE};
    char why[REVIEW_WHY_SIZE] = "";
    const enum review_result result = review_read_access(kube_answer, why);
    note(inquiry, ACCESS_REVIEW, result, why, kube_answer->at_ms);
    if (result == REVIEW_YES) {
        answer.kind = ANSWER_ALLOWED;
        answer.caller = inquiry->user.caller;
    } else if (result == REVIEW_NO) {
        answer.kind = ANSWER_FORBIDDEN;
        (void)snprintf(answer.user, sizeof answer.user, "%s", user_of(inquiry));
    }
    conclude(inquiry, &answer, kube_answer->at_ms);
}

static void review_access(struct inquiry *inquiry, int64_t now_ms)
{
    const struct asking *asking = &inquiry->asking;
    const struct auth_question *question = asking->question;
    char *body CLEANUP(mem_free_ptr) =
        question ? review_resource_body(question->members, question->attributes)
                 : review_access_body(&inquiry->user, asking->verb, asking->path);
    send_review(inquiry, REVIEW_ACCESS_PATH, body, now_ms, take_access_review);
}

static void take_token_review(void *context, const struct kube_answer *kube_answer)
{
    struct inquiry *inquiry = context;
    char why[REVIEW_WHY_SIZE] = "";
    const enum review_result result =
        review_read_token(kube_answer, &inquiry->asking.bearer, &inquiry->user, why);
    note(inquiry, TOKEN_REVIEW, result, why, kube_answer->at_ms);
    if (result == REVIEW_YES) {
        review_access(inquiry, kube_answer->at_ms);
        return;
    }
    const struct auth_answer answer = {.kind = result == REVIEW_NO ? ANSWER_STRANGER : ANSWER_NONE};
    conclude(inquiry, &answer, kube_answer->at_ms);
}

void auth_inquiry_send(struct inquiry *inquiry)
{
    if (inquiry->asking.question) {
        review_access(inquiry, inquiry->began_ms);
        return;
    }
    char *body = review_token_body(&inquiry->asking.bearer);
    send_review(inquiry, REVIEW_TOKEN_PATH, body, inquiry->began_ms, take_token_review);
    review_wipe(body);
}
