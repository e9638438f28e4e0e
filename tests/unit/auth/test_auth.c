/* The life of a token: reviewed, admitted or rejected, cached for its time and no longer. */
#include "auth/auth.h"
#include "auth_harness.h"
#include "kube_answers.h"

#define STRANGER                                                                                   \
    "the API server rejected the token: it is invalid, expired, or for another audience"
#define BUSY "too many tokens are being checked: try again"

static void test_reviews_carry_token_user_verb_and_path(void **state)
{
    struct auth_harness *harness = *state;
    const struct fake_question question = {
        .method = "POST", .path = "/v1/dry-run", .authorization = "bearer  to.k-e_n~+/=="};
    struct guest guest = come_as(harness, &question);
    check_asked(harness, TOKENS,
                "{'apiVersion':'authentication.k8s.io/v1','kind':'TokenReview',"
                "'spec':{'token':'to.k-e_n~+/=='}}");
    assert_int_equal(harness->server.requests->timeout_ms, INQUIRY_MS);
    harness->now_ms += 1500;
    answer(harness, 201,
           "{'kind':'TokenReview','spec':{'token':'to.k-e_n~+/=='},'status':{'authenticated':true,"
           "'user':{'username':'oidc:j\\u00fc\\'x','uid':'u-1','groups':['g1','g\\u00fc'],"
           "'extra':{'example.com/k':['v1','v2']}},'audiences':['https://kubernetes']}}");
    check_asked(harness, ACCESS,
                "{'apiVersion':'authorization.k8s.io/v1','kind':'SubjectAccessReview',"
                "'spec':{'user':'oidc:j\xc3\xbc\\'x','groups':['g1','g\xc3\xbc'],'uid':'u-1',"
                "'extra':{'example.com/k':['v1','v2']},"
                "'nonResourceAttributes':{'path':'/v1/dry-run','verb':'post'}}}");
    assert_int_equal(harness->server.requests->timeout_ms, INQUIRY_MS - 1500);
    may(harness, true);
    check_in(&guest);
}

/* kube-apiserver itself uses a separate verb for HEAD. */
static void test_verb_and_path(void **state)
{
    struct auth_harness *harness = *state;
    const struct fake_question question = {
        .method = "HEAD", .path = "/v1/pods/a\"b/\xff", .authorization = "Bearer t"};
    struct guest guest = come_as(harness, &question);
    token_is_of(harness, "jane");
    check_asked(harness, ACCESS,
                "{'apiVersion':'authorization.k8s.io/v1','kind':'SubjectAccessReview','spec':{"
                "'user':'jane','nonResourceAttributes':{'path':'/v1/pods/a\\'b/\\ufffd',"
                "'verb':'head'}}}");
    may(harness, false);
    check_answer(&guest, 403,
                 "forbidden: User \"jane\" cannot head path \"/v1/pods/a\\\"b/\\ufffd\"");
}

static void test_allowed_answer_is_cached(void **state)
{
    struct auth_harness *harness = *state;
    struct guest guest = come(harness, "/v1/inventory", "t");
    token_is_of(harness, "jane");
    harness->now_ms += 1000; /* the time counts from the request */
    may(harness, true);
    check_in(&guest);
    harness->now_ms += ALLOWED_MS - 1001;
    guest = come(harness, "/v1/inventory", "t");
    assert_int_equal(guest.verdict, AUTH_OPEN);
    check_in(&guest);
    check_silence(harness);
    harness->now_ms += 1;
    let_in(harness, "/v1/inventory", "t");
    assert_float_equal(metric(harness, "gpu_extender_auth_lookups_total{result=\"hit\"} "), 1, 0);
    assert_float_equal(metric(harness, "gpu_extender_auth_lookups_total{result=\"miss\"} "), 2, 0);
}

static void test_cached_answer_is_of_one_token_verb_and_path(void **state)
{
    struct auth_harness *harness = *state;
    const struct fake_question post = {
        .method = "POST", .path = "/v1/inventory", .authorization = "Bearer t"};
    let_in(harness, "/v1/inventory", "t");
    let_in(harness, "/v1/inventory", "T");
    let_in(harness, "/v1/inventory/", "t");
    let_in(harness, "/v1/inventor", "t");
    struct guest guest = come_as(harness, &post);
    assert_int_equal(guest.verdict, AUTH_ASK);
    token_is_nobodys(harness);
    check_answer(&guest, 401, STRANGER);
}

/* The caller of a guest that passes with a new token of the user, and then from the cache. */
static uint64_t caller_of_user(struct auth_harness *harness, const char *token, const char *user)
{
    uint64_t callers[2];
    char body[512];
    (void)snprintf(body, sizeof body,
                   "{'kind':'TokenReview','status':{'authenticated':true,'user':{%s}}}", user);
    for (size_t i = 0; i < 2; i++) {
        struct guest guest = come(harness, "/metrics", token);
        if (i == 0) {
            answer(harness, 201, body);
            may(harness, true);
        }
        struct fake_answer reply = fake_end(guest.exchange);
        callers[i] = reply.caller;
        fake_answer_fini(&reply);
    }
    assert_int_equal(callers[0], callers[1]);
    return callers[0];
}

static void test_caller_is_the_user_and_not_the_token(void **state)
{
    struct auth_harness *harness = *state;
    const uint64_t jane =
        caller_of_user(harness, "t1", "'username':'jane','groups':['a','b'],'uid':'1'");
    assert_int_not_equal(jane, 0);
    assert_int_equal(caller_of_user(harness, "t2",
                                    "'groups':['b','a'],'username':'jane',"
                                    "'extra':{'example.com/credential-id':['2']}"),
                     jane);
    const char *const others[] = {"'username':'jane'", "'username':'jane','groups':['a']",
                                  "'username':'joe','groups':['a','b']",
                                  "'username':'jane','groups':['ab']"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const char token[] = {(char)('a' + i), '\0'};
        assert_int_not_equal(caller_of_user(harness, token, others[i]), jane);
    }
    static const char *const GROUPS[] = {"b", "a", NULL};
    assert_int_equal(auth_caller_of("jane", GROUPS), jane); /* as of a certificate */
}

static void test_rejection_is_cached_for_less_time(void **state)
{
    struct auth_harness *harness = *state;
    for (int64_t ms = 0; ms < REFUSED_MS; ms += REFUSED_MS - 1) {
        struct guest stranger = come(harness, "/metrics", "x");
        struct guest jane = come(harness, "/metrics", "t");
        if (ms == 0) {
            token_is_nobodys(harness);
            token_is_of(harness, "jane");
            may(harness, false);
        }
        assert_int_equal(stranger.verdict, ms == 0 ? AUTH_ASK : AUTH_CLOSED);
        check_silence(harness);
        check_answer(&stranger, 401, STRANGER);
        check_answer(&jane, 403, "forbidden: User \"jane\" cannot get path \"/metrics\"");
        harness->now_ms += REFUSED_MS - 1;
    }
    let_in(harness, "/metrics", "t");
    struct guest guest = come(harness, "/metrics", "t"); /* the rejection was evicted too */
    assert_int_equal(guest.verdict, AUTH_OPEN);
    check_in(&guest);
}

static void test_request_without_a_token_is_rejected(void **state)
{
    struct auth_harness *harness = *state;
    static const char *const HEADERS[] = {
        NULL,        "",           "Bearer",      "Bearer ",     "Basic dTpw",
        "Bearert",   "Bearer a b", "Bearer a\"b", "Bearer a\\b", "Bearer a\xc3\xbc",
        "Bearer\tt",
    };
    for (size_t i = 0; i < sizeof HEADERS / sizeof *HEADERS; i++) {
        const struct fake_question question = {
            .method = "GET", .path = "/metrics", .authorization = HEADERS[i]};
        struct guest guest = come_as(harness, &question);
        assert_int_equal(guest.verdict, AUTH_CLOSED);
        check_silence(harness);
        check_answer(&guest, 401,
                     HEADERS[i] ? "the header Authorization is not \"Bearer TOKEN\""
                                : "there is no header Authorization: Bearer TOKEN");
    }
}

static void test_token_is_rejected_without_an_api_server(void **state)
{
    (void)state;
    const struct auth_settings settings = {.allowed_ms = ALLOWED_MS, .refused_ms = REFUSED_MS};
    struct auth_harness harness = {.auth = auth_new(&settings, (struct kube_sender){0})};
    struct guest guest = come(&harness, "/metrics", "t");
    assert_int_equal(guest.verdict, AUTH_CLOSED);
    check_answer(&guest, 401,
                 "no token can be checked: the inventory was read from a file, and there is no API "
                 "server to ask");
    auth_free(harness.auth);
}

static void test_a_long_user_name_is_cut_in_the_message(void **state)
{
    struct auth_harness *harness = *state;
    char name[301];
    char message[512];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    struct guest guest = come(harness, "/metrics", "t");
    token_is_of(harness, name);
    may(harness, false);
    (void)snprintf(message, sizeof message,
                   "forbidden: User \"%.127s\" cannot get path \"/metrics\"", name);
    check_answer(&guest, 403, message);
}

static void test_equal_requests_share_one_review(void **state)
{
    struct auth_harness *harness = *state;
    struct guest guests[3];
    for (size_t i = 0; i < 3; i++)
        guests[i] = come(harness, "/metrics", "t");
    assert_int_equal(harness->server.n_sent, 1);
    assert_float_equal(metric(harness, "gpu_extender_auth_reviews_open "), 1, 0);
    token_is_of(harness, "jane");
    struct guest late = come(harness, "/metrics", "t");
    may(harness, true);
    assert_int_equal(harness->server.n_sent, 2);
    assert_float_equal(metric(harness, "gpu_extender_auth_reviews_open "), 0, 0);
    for (size_t i = 0; i < 3; i++)
        check_in(&guests[i]);
    check_in(&late);
}

#define N_OF_STRANGERS 24
#define N_AT_ONCE 32

#define N_OF_NETWORK (N_OF_STRANGERS / 2)

/* One of many unknown tokens. */
static struct guest stranger(struct auth_harness *harness, unsigned number)
{
    char token[32];
    (void)snprintf(token, sizeof token, "nobody-%u", number);
    return come(harness, "/metrics", token);
}

static void test_reviews_under_way_are_bounded(void **state)
{
    struct auth_harness *harness = *state;
    struct guest guests[N_AT_ONCE];
    char path[32];
    let_in(harness, "/metrics", "t");
    harness->now_ms += ALLOWED_MS; /* an expired answer is not evicted at once, nor by a failure */
    struct guest unlucky = come(harness, "/metrics", "t");
    no_answer(harness, KUBE_UNKNOWN);
    check_answer(&unlucky, 503, NOT_ASKED);
    for (unsigned i = 0; i < N_OF_STRANGERS; i++) {
        harness->network = i / N_OF_NETWORK;
        guests[i] = stranger(harness, i);
    }
    harness->network = 9;
    struct guest one_more = stranger(harness, 99);
    assert_int_equal(one_more.verdict, AUTH_CLOSED);
    check_answer(&one_more, 503, BUSY);
    for (unsigned i = N_OF_STRANGERS; i < N_AT_ONCE; i++) {
        (void)snprintf(path, sizeof path, "/v1/%u", i);
        guests[i] = come(harness, path, "t");
        assert_int_equal(guests[i].verdict, AUTH_ASK);
    }
    one_more = come(harness, "/v1/more", "t");
    assert_int_equal(one_more.verdict, AUTH_CLOSED);
    check_answer(&one_more, 503, BUSY);
    assert_float_equal(metric(harness, "gpu_extender_auth_lookups_total{result=\"busy\"} "), 2, 0);
    assert_int_equal(harness->server.n_sent, 3 + N_AT_ONCE);
    for (unsigned i = 0; i < N_AT_ONCE; i++) {
        token_is_nobodys(harness);
        check_answer(&guests[i], 401, STRANGER);
    }
    let_in(harness, "/v1/more", "t");
}

#define LIMITED "too many unknown tokens were shown from your network: try again"
#define N_BURST 64
#define PER_S 10

/* Answered at once, so that few reviews are in progress. */
static void turn_away(struct auth_harness *harness, unsigned from, unsigned to)
{
    for (; from < to; from++) {
        struct guest guest = stranger(harness, from);
        assert_int_equal(guest.verdict, AUTH_ASK);
        token_is_nobodys(harness);
        check_answer(&guest, 401, STRANGER);
    }
}

static void check_limited(struct auth_harness *harness, unsigned number)
{
    struct guest guest = stranger(harness, number);
    assert_int_equal(guest.verdict, AUTH_CLOSED);
    check_answer(&guest, 503, LIMITED);
    check_silence(harness);
}

static void test_unknown_tokens_of_a_network_share_a_bucket(void **state)
{
    struct auth_harness *harness = *state;
    turn_away(harness, 0, N_BURST);
    check_limited(harness, N_BURST);
    harness->now_ms += 99;
    check_limited(harness, N_BURST);
    harness->now_ms += 1;
    turn_away(harness, N_BURST, N_BURST + 1);
    check_limited(harness, N_BURST + 1);
    harness->now_ms += 3600000;
    turn_away(harness, 1000, 1000 + N_BURST);
    check_limited(harness, 1000 + N_BURST);
    harness->now_ms += 1000;
    turn_away(harness, 2000, 2000 + PER_S);
    check_limited(harness, 2000 + PER_S);
    assert_float_equal(metric(harness, "gpu_extender_auth_lookups_total{result=\"limited\"} "), 5,
                       0);
}

/* On any path, and after its answer has expired. */
static void test_unknown_tokens_keep_no_known_token_out(void **state)
{
    struct auth_harness *harness = *state;
    let_in(harness, "/metrics", "t");
    harness->now_ms += ALLOWED_MS;
    turn_away(harness, 0, N_BURST);
    check_limited(harness, N_BURST);
    let_in(harness, "/metrics", "t");
    let_in(harness, "/v1/inventory", "t");
}

/* Joining a review in progress costs nothing. */
static void test_requests_may_join_an_open_review(void **state)
{
    struct auth_harness *harness = *state;
    turn_away(harness, 0, N_BURST - 1);
    struct guest first = come(harness, "/metrics", "new");
    struct guest second = come(harness, "/metrics", "new");
    assert_int_equal(second.verdict, AUTH_ASK);
    struct guest third = stranger(harness, N_BURST);
    check_answer(&third, 503, LIMITED);
    token_is_of(harness, "jane");
    may(harness, true);
    check_in(&first);
    check_in(&second);
}

/* 20 unknown tokens a second, and users who come with their tokens for the first time. */
static void test_a_flood_of_one_network_keeps_no_other_out(void **state)
{
    struct auth_harness *harness = *state;
    char token[32];
    unsigned n_limited = 0;
    for (unsigned i = 0; i < 1200; i++) {
        struct guest guest = stranger(harness, i);
        if (guest.verdict == AUTH_ASK)
            token_is_nobodys(harness);
        n_limited += guest.verdict == AUTH_CLOSED;
        check_answer(&guest, guest.verdict == AUTH_ASK ? 401 : 503, NULL);
        (void)snprintf(token, sizeof token, "user-%u", i / 20);
        harness->network = 1;
        if (i % 20 == 0)
            let_in(harness, "/v1/inventory", token);
        harness->network = 0;
        harness->now_ms += 50;
    }
    assert_in_range(n_limited, 500, 600);
}

static void test_one_network_gets_half_of_the_places_of_strangers(void **state)
{
    struct auth_harness *harness = *state;
    struct guest guests[N_OF_NETWORK];
    for (unsigned i = 0; i < N_OF_NETWORK; i++)
        guests[i] = stranger(harness, i);
    struct guest one_more = stranger(harness, 99);
    check_answer(&one_more, 503, BUSY);
    harness->network = 1;
    struct guest other = come(harness, "/metrics", "t");
    assert_int_equal(other.verdict, AUTH_ASK);
    for (unsigned i = 0; i < N_OF_NETWORK; i++) {
        token_is_nobodys(harness);
        check_answer(&guests[i], 401, STRANGER);
    }
    token_is_of(harness, "jane");
    may(harness, true);
    check_in(&other);
    harness->network = 0;
    turn_away(harness, N_OF_NETWORK, 2 * N_OF_NETWORK);
}

/* Else the others would begin more reviews than it may. */
static void test_a_network_is_forgotten_only_when_idle(void **state)
{
    struct auth_harness *harness = *state;
    struct guest first = stranger(harness, 0);
    struct fake_request *held = fake_sender_take(&harness->server);
    for (unsigned i = 1; i <= 2000; i++) {
        harness->network = i;
        harness->now_ms++;
        turn_away(harness, i, i + 1);
    }
    struct guest guests[N_OF_NETWORK];
    harness->network = 0;
    for (unsigned i = 1; i < N_OF_NETWORK; i++)
        guests[i] = stranger(harness, 3000 + i);
    struct guest one_more = stranger(harness, 99);
    check_answer(&one_more, 503, BUSY);
    for (unsigned i = 1; i < N_OF_NETWORK; i++) {
        token_is_nobodys(harness);
        check_answer(&guests[i], 401, STRANGER);
    }
    const struct kube_answer reply = kube_unanswered(harness->now_ms, KUBE_UNKNOWN, "gone");
    fake_request_answer(held, &reply);
    check_answer(&first, 503, NOT_ASKED);
}

struct fronting {
    struct auth_harness *harness;
    char attributes[32];
    struct auth_question question;
};

static void judge_question(void *context, struct exchange *exchange)
{
    const struct fronting *fronting = context;
    struct auth *auth = fronting->harness->auth;
    const int64_t now_ms = fronting->harness->now_ms;
    assert_int_equal(auth_judge_question(auth, exchange, &fronting->question, now_ms), AUTH_ASK);
    auth_ask_question(auth, exchange, &fronting->question, now_ms);
}

/* They come from the addresses of the API servers alone, which have authenticated them. */
static void test_users_of_a_front_proxy_are_no_strangers(void **state)
{
    struct auth_harness *harness = *state;
    const struct fake_question question = {.method = "GET", .path = "/apis"};
    turn_away(harness, 0, N_BURST);
    check_limited(harness, N_BURST);
    for (unsigned i = 0; i < 2 * N_BURST; i++) {
        struct fronting fronting = {.harness = harness};
        (void)snprintf(fronting.attributes, sizeof fronting.attributes, "{\"name\":\"%u\"}", i);
        fronting.question = (struct auth_question){.user = "jane",
                                                   .members = "\"user\":\"jane\"",
                                                   .attributes = fronting.attributes,
                                                   .action = "get it"};
        struct guest guest = {AUTH_ASK, fake_begin(judge_question, &fronting, &question)};
        may(harness, true);
        check_in(&guest);
    }
    check_limited(harness, N_BURST + 1);
}

#define N_WAITING 192

static void test_number_of_waiting_requests_is_bounded(void **state)
{
    struct auth_harness *harness = *state;
    struct guest guests[N_WAITING];
    let_in(harness, "/v1/inventory", "t");
    for (unsigned i = 0; i < N_WAITING; i++) {
        harness->network = i % 2;
        guests[i] = come(harness, "/metrics", "x");
    }
    harness->network = 9;
    assert_int_equal(harness->server.n_sent, 3);
    struct guest one_more = come(harness, "/metrics", "x");
    assert_int_equal(one_more.verdict, AUTH_CLOSED);
    check_answer(&one_more, 503, BUSY);
    struct guest known = come(harness, "/metrics", "t");
    assert_int_equal(known.verdict, AUTH_ASK);
    token_is_nobodys(harness);
    for (unsigned i = 0; i < N_WAITING; i++)
        check_answer(&guests[i], 401, STRANGER);
    token_is_of(harness, "jane");
    may(harness, true);
    check_in(&known);
}

static void only_judge(void *context, struct exchange *exchange)
{
    struct auth_harness *harness = context;
    assert_int_equal(auth_judge(harness->auth, exchange, harness->now_ms), AUTH_ASK);
}

/* Other calls may arrive between the gate and the end of the body. */
static void test_request_gets_503_if_reviews_filled_up_meanwhile(void **state)
{
    struct auth_harness *harness = *state;
    struct guest guests[N_OF_STRANGERS];
    const struct fake_question question = {
        .method = "GET", .path = "/metrics", .authorization = "Bearer late"};
    for (unsigned i = 0; i < N_OF_STRANGERS - 1; i++) {
        harness->network = 1 + i / N_OF_NETWORK;
        guests[i] = stranger(harness, i);
    }
    struct guest late = {AUTH_ASK, fake_begin(only_judge, harness, &question)};
    guests[N_OF_STRANGERS - 1] = stranger(harness, N_OF_STRANGERS - 1);
    auth_ask(harness->auth, late.exchange, harness->now_ms);
    check_answer(&late, 503, BUSY);
    for (unsigned i = 0; i < N_OF_STRANGERS; i++) {
        token_is_nobodys(harness);
        check_answer(&guests[i], 401, STRANGER);
    }
}

/* As many as get through. */
static void test_unknown_tokens_evict_no_accepted_token(void **state)
{
    struct auth_harness *harness = *state;
    let_in(harness, "/metrics", "t");
    for (unsigned i = 0; i < 3000; i++) {
        turn_away(harness, i, i + 1);
        harness->now_ms += 1000 / PER_S;
    }
    turn_away(harness, 5000, 5000 + N_BURST - 1);
    check_limited(harness, 9999);
    let_in(harness, "/metrics", "t");
}

static void test_cache_time_zero_stores_no_answer(void **state)
{
    struct auth_harness *harness = *state;
    const struct auth_settings settings = {0};
    auth_free(harness->auth);
    harness->auth = auth_new(&settings, fake_sender_of(&harness->server));
    let_in(harness, "/metrics", "t");
    turn_away(harness, 0, N_BURST - 1);
    check_limited(harness, N_BURST);
    let_in(harness, "/metrics", "t"); /* the token is known nevertheless */
}

/* As when a loop stops: requests in progress get answers, and no new ones are sent. */
static void test_the_sender_stops(void **state)
{
    struct auth_harness *harness = *state;
    struct guest first = come(harness, "/metrics", "t");
    token_is_of(harness, "jane");
    struct guest second = come(harness, "/metrics", "x");
    fake_sender_fini(&harness->server);
    check_answer(&first, 503, NOT_ASKED);
    check_answer(&second, 503, NOT_ASKED);
    fake_sender_init(&harness->server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_reviews_carry_token_user_verb_and_path),
        TEST(test_verb_and_path),
        TEST(test_allowed_answer_is_cached),
        TEST(test_cached_answer_is_of_one_token_verb_and_path),
        TEST(test_caller_is_the_user_and_not_the_token),
        TEST(test_rejection_is_cached_for_less_time),
        TEST(test_request_without_a_token_is_rejected),
        cmocka_unit_test(test_token_is_rejected_without_an_api_server),
        TEST(test_a_long_user_name_is_cut_in_the_message),
        TEST(test_equal_requests_share_one_review),
        TEST(test_reviews_under_way_are_bounded),
        TEST(test_number_of_waiting_requests_is_bounded),
        TEST(test_request_gets_503_if_reviews_filled_up_meanwhile),
        TEST(test_unknown_tokens_evict_no_accepted_token),
        TEST(test_unknown_tokens_of_a_network_share_a_bucket),
        TEST(test_a_flood_of_one_network_keeps_no_other_out),
        TEST(test_one_network_gets_half_of_the_places_of_strangers),
        TEST(test_a_network_is_forgotten_only_when_idle),
        TEST(test_users_of_a_front_proxy_are_no_strangers),
        TEST(test_unknown_tokens_keep_no_known_token_out),
        TEST(test_requests_may_join_an_open_review),
        TEST(test_cache_time_zero_stores_no_answer),
        TEST(test_the_sender_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
