/* auth: see include/auth/auth.h; auth_priv.h describes the files. */
#include "auth/auth.h"
#include "auth_priv.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *const REVIEWS[N_REVIEW_KINDS] = {
    [TOKEN_REVIEW] = "TokenReview",
    [ACCESS_REVIEW] = "SubjectAccessReview",
};
static const char *const RESULTS[N_REVIEW_RESULTS] = {
    [REVIEW_YES] = "yes",
    [REVIEW_NO] = "no",
    [REVIEW_FAILED] = "failed",
};
static const char *const LOOKUPS[N_LOOKUPS] = {
    [LOOKUP_HIT] = "hit",
    [LOOKUP_MISS] = "miss",
    [LOOKUP_BUSY] = "busy",
    [LOOKUP_LIMITED] = "limited",
};

const char *auth_review_name(enum review_kind kind)
{
    return REVIEWS[kind];
}

static void add_reviews(const struct auth *auth, struct buf *out)
{
    metrics_head(out, "gpu_extender_auth_reviews_total", "counter",
                 "Reviews of users' tokens by the API server, by kind and result.");
    for (size_t kind = 0; kind < N_REVIEW_KINDS; kind++) {
        for (size_t result = 0; result < N_REVIEW_RESULTS; result++) {
            const struct metric_label labels[] = {
                {"review", REVIEWS[kind]}, {"result", RESULTS[result]}, {0}};
            metrics_sample(out, "gpu_extender_auth_reviews_total", labels,
                           (double)counter_value(&auth->reviews[kind][result]));
        }
    }
}

static void add_lookups(const struct auth *auth, struct buf *out)
{
    metrics_head(out, "gpu_extender_auth_lookups_total", "counter",
                 "Users' requests with a token, by how they were decided: from the cache, by a "
                 "review, or rejected.");
    for (size_t i = 0; i < N_LOOKUPS; i++) {
        const struct metric_label labels[] = {{"result", LOOKUPS[i]}, {0}};
        metrics_sample(out, "gpu_extender_auth_lookups_total", labels,
                       (double)counter_value(&auth->lookups[i]));
    }
}

void auth_metrics(struct auth *auth, struct buf *out)
{
    mutex_lock(&auth->lock);
    const size_t n_open = HASH_COUNT(auth->inquiries);
    mutex_unlock(&auth->lock);
    add_reviews(auth, out);
    add_lookups(auth, out);
    metrics_gauge(out, "gpu_extender_auth_reviews_open", "Tokens whose reviews are in progress.",
                  (double)n_open);
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

uint64_t auth_caller_of(const char *name, const char *const *groups)
{
    struct buf text;
    size_t n = 0;
    while (groups[n])
        n++;
    const char **sorted = MEM_ARRAY(const char *, n + 1);
    memcpy(sorted, groups, n * sizeof *groups);
    qsort(sorted, n, sizeof *sorted, compare);
    buf_init(&text, BUF_UNBOUNDED);         /* the user is bounded */
    buf_add(&text, name, strlen(name) + 1); /* the NUL separates it from the groups */
    for (size_t i = 0; i < n; i++)
        buf_add(&text, sorted[i], strlen(sorted[i]) + 1);
    const uint64_t caller = hash_bytes(text.data, text.len);
    buf_fini(&text);
    free(sorted);
    return caller > 0 ? caller : 1;
}

struct auth *auth_new(const struct auth_settings *settings, struct kube_sender sender)
{
    struct auth *auth = MEM_NEW(struct auth);
    auth->settings = *settings;
    auth->sender = sender;
    key_secret_init(&auth->secret);
    mutex_init(&auth->lock);
    return auth;
}

void auth_free(struct auth *auth)
{
    if (!auth)
        return;
    answers_fini(&auth->answers);
    mutex_fini(&auth->lock);
    explicit_bzero(&auth->secret, sizeof auth->secret);
    free(auth);
}

/* ---- the request ---- */

/* As kube-apiserver does for non-resource paths: HEAD is a verb of its own. */
static const char *verb_of(struct exchange *exchange)
{
    char *verb = arena_strdup(exchange_arena(exchange), exchange_method(exchange));
    for (char *c = verb; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return verb;
}

/* Returns NULL, or why the request cannot be reviewed. */
static const char *read_asking(const struct auth *auth, struct exchange *exchange,
                               struct asking *ret_asking)
{
    const char *header = exchange_header(exchange, "Authorization");
    if (!header)
        return "there is no header Authorization: Bearer TOKEN";
    if (!bearer_read(header, &ret_asking->bearer))
        return "the header Authorization is not \"Bearer TOKEN\"";
    if (!auth->sender.send)
        return "no token can be checked: the inventory was read from a file, and there is no API "
               "server to ask";
    ret_asking->verb = verb_of(exchange);
    ret_asking->path = exchange_path(exchange);
    ret_asking->network = exchange_network(exchange);
    answer_key_make(&auth->secret, &ret_asking->bearer, ret_asking->verb, ret_asking->path,
                    &ret_asking->key);
    return NULL;
}

static void forbid(struct exchange *exchange, const struct auth_question *question,
                   const char *user)
{
    struct buf message;
    buf_init(&message, BUF_UNBOUNDED); /* a cut name, and a path from a bounded header */
    buf_add_text(&message, "forbidden: User ");
    buf_add_quoted(&message, user);
    if (question) {
        buf_printf(&message, " cannot %s", question->action);
    } else {
        buf_printf(&message, " cannot %s path ", verb_of(exchange));
        buf_add_quoted(&message, exchange_path(exchange));
    }
    exchange_answer_error(exchange, 403, buf_text(&message));
    buf_fini(&message);
}

/* answer: any but ANSWER_ALLOWED. */
static void refuse(struct exchange *exchange, const struct auth_question *question,
                   const struct auth_answer *answer)
{
    if (answer->kind == ANSWER_FORBIDDEN)
        forbid(exchange, question, answer->user);
    else if (answer->kind == ANSWER_STRANGER)
        exchange_answer_error(
            exchange, 401,
            "the API server rejected the token: it is invalid, expired, or for another audience");
    else
        exchange_answer_busy(
            exchange, question ? "the API server could not verify the user's permissions: try again"
                               : "the API server could not verify the token and its permissions: "
                                 "try again");
}

/* room: any but ROOM_YES. */
static void refuse_for_room(struct auth *auth, struct exchange *exchange, enum inquiry_room room)
{
    const bool is_full = room == ROOM_FULL;
    counter_add(&auth->lookups[is_full ? LOOKUP_BUSY : LOOKUP_LIMITED], 1);
    exchange_answer_busy(
        exchange, is_full ? "too many tokens are being checked: try again"
                          : "too many unknown tokens were shown from your network: try again");
}

/* With a question the gate knows it. */
static void note_caller(struct exchange *exchange, const struct auth_question *question,
                        const struct auth_answer *allowed)
{
    if (!question)
        exchange_set_caller(exchange, allowed->caller);
}

static void pass_with_extra(struct exchange *exchange, const struct auth_question *extra,
                            const struct auth_answer *answer)
{
    if (answer->kind == ANSWER_ALLOWED)
        exchange_set_note(exchange, extra->note);
    exchange_pass(exchange);
}

// NOLINTNEXTLINE(misc-no-recursion): an extra right has none of its own
void auth_settle(struct auth *auth, struct exchange *exchange, const struct auth_question *question,
                 const struct auth_answer *answer, int64_t now_ms)
{
    if (question && question->note) {
        pass_with_extra(exchange, question, answer);
    } else if (answer->kind != ANSWER_ALLOWED) {
        refuse(exchange, question, answer);
    } else if (question && question->extra) {
        auth_ask_question(auth, exchange, question->extra, now_ms);
    } else {
        note_caller(exchange, question, answer);
        exchange_pass(exchange);
    }
}

/* ---- the gate ---- */

static enum auth_verdict judge(struct auth *auth, const struct asking *asking,
                               struct exchange *exchange, int64_t now_ms)
{
    mutex_lock(&auth->lock);
    const struct auth_answer answer = answers_find(&auth->answers, &asking->key, now_ms);
    const bool known = answer.kind != ANSWER_NONE;
    const enum inquiry_room room = known ? ROOM_YES : auth_inquiry_room(auth, asking, now_ms);
    mutex_unlock(&auth->lock);
    if (room != ROOM_YES) {
        refuse_for_room(auth, exchange, room);
        return AUTH_CLOSED;
    }
    counter_add(&auth->lookups[known ? LOOKUP_HIT : LOOKUP_MISS], 1);
    if (!known)
        return AUTH_ASK;
    if (answer.kind != ANSWER_ALLOWED) {
        refuse(exchange, asking->question, &answer);
        return AUTH_CLOSED;
    }
    if (asking->question && asking->question->extra)
        return AUTH_ASK;
    note_caller(exchange, asking->question, &answer);
    return AUTH_OPEN;
}

enum auth_verdict auth_judge(struct auth *auth, struct exchange *exchange, int64_t now_ms)
{
    struct asking asking = {0};
    const char *fault = read_asking(auth, exchange, &asking);
    if (!fault)
        return judge(auth, &asking, exchange, now_ms);
    exchange_answer_error(exchange, 401, fault);
    return AUTH_CLOSED;
}

// NOLINTNEXTLINE(misc-no-recursion): an extra right has none of its own
static void ask(struct auth *auth, const struct asking *asking, struct exchange *exchange,
                int64_t now_ms)
{
    struct inquiry *begun = NULL;
    mutex_lock(&auth->lock);
    const struct auth_answer answer = answers_find(&auth->answers, &asking->key, now_ms);
    const bool known = answer.kind != ANSWER_NONE;
    const enum inquiry_room room = known ? ROOM_YES : auth_inquiry_room(auth, asking, now_ms);
    if (!known && room == ROOM_YES)
        begun = auth_inquiry_join(auth, asking, exchange, now_ms);
    mutex_unlock(&auth->lock);
    if (begun)
        auth_inquiry_send(begun);
    else if (known || (room != ROOM_YES && asking->question && asking->question->note))
        auth_settle(auth, exchange, asking->question, &answer, now_ms);
    else if (room != ROOM_YES)
        refuse_for_room(auth, exchange, room);
}

void auth_ask(struct auth *auth, struct exchange *exchange, int64_t now_ms)
{
    struct asking asking = {0};
    const char *fault = read_asking(auth, exchange, &asking);
    if (fault)
        exchange_answer_error(exchange, 401, fault);
    else
        ask(auth, &asking, exchange, now_ms);
}

static struct asking asking_of(const struct auth *auth, const struct auth_question *question)
{
    struct asking asking = {.question = question};
    answer_key_make_of_user(&auth->secret, question->members, question->attributes, &asking.key);
    return asking;
}

enum auth_verdict auth_judge_question(struct auth *auth, struct exchange *exchange,
                                      const struct auth_question *question, int64_t now_ms)
{
    const struct asking asking = asking_of(auth, question);
    return judge(auth, &asking, exchange, now_ms);
}

// NOLINTNEXTLINE(misc-no-recursion): an extra right has none of its own
void auth_ask_question(struct auth *auth, struct exchange *exchange,
                       const struct auth_question *question, int64_t now_ms)
{
    const struct asking asking = asking_of(auth, question);
    ask(auth, &asking, exchange, now_ms);
}
