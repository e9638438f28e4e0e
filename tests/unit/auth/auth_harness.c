/* auth_harness: see auth_harness.h. */
#include "auth_harness.h"
#include "kube_answers.h"

int auth_harness_setup(void **state)
{
    struct auth_harness *harness = MEM_NEW(struct auth_harness);
    const struct auth_settings settings = {.allowed_ms = ALLOWED_MS, .refused_ms = REFUSED_MS};
    fake_sender_init(&harness->server);
    harness->auth = auth_new(&settings, fake_sender_of(&harness->server));
    harness->now_ms = 1000;
    *state = harness;
    return 0;
}

int auth_harness_teardown(void **state)
{
    struct auth_harness *harness = *state;
    fake_sender_fini(&harness->server);
    auth_free(harness->auth);
    free(harness);
    return 0;
}

struct judging {
    struct auth_harness *harness;
    enum auth_verdict verdict;
};

static void judge(void *context, struct exchange *exchange)
{
    struct judging *judging = context;
    judging->verdict = auth_judge(judging->harness->auth, exchange, judging->harness->now_ms);
}

struct guest come_as(struct auth_harness *harness, const struct fake_question *question)
{
    struct judging judging = {.harness = harness};
    struct exchange *exchange = fake_begin(judge, &judging, question);
    if (judging.verdict == AUTH_ASK)
        auth_ask(harness->auth, exchange, harness->now_ms);
    else if (judging.verdict == AUTH_OPEN)
        exchange_pass(exchange);
    return (struct guest){judging.verdict, exchange};
}

struct guest come(struct auth_harness *harness, const char *path, const char *token)
{
    char header[128];
    (void)snprintf(header, sizeof header, "Bearer %s", token);
    const struct fake_question question = {
        .method = "GET", .path = path, .authorization = header, .network = harness->network};
    return come_as(harness, &question);
}

void check_answer(struct guest *guest, unsigned status, const char *message)
{
    struct fake_answer reply = fake_end(guest->exchange);
    assert_int_equal(reply.status, status);
    if (message) {
        struct buf text;
        buf_init(&text, BUF_UNBOUNDED);
        buf_add_text(&text, "{\"error\": ");
        buf_add_quoted(&text, message);
        buf_add_text(&text, "}\n");
        assert_string_equal(reply.body, buf_text(&text));
        buf_fini(&text);
    }
    assert_int_equal(reply.flags, status == 503 ? EXCHANGE_RETRY : 0);
    fake_answer_fini(&reply);
}

void check_in(struct guest *guest)
{
    check_answer(guest, FAKE_PASSED, NULL);
}

char *quotes(const char *text)
{
    char *copy = mem_strdup(text);
    for (char *c = copy; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    return copy;
}

void check_asked(struct auth_harness *harness, const char *path, const char *body)
{
    const struct fake_request *request = harness->server.requests;
    assert_non_null(request);
    assert_string_equal(request->method, "POST");
    assert_string_equal(request->path, path);
    if (body) {
        char *quoted = quotes(body);
        assert_string_equal(request->body, quoted);
        free(quoted);
    }
}

void check_silence(struct auth_harness *harness)
{
    assert_null(harness->server.requests);
}

static void give(struct auth_harness *harness, const struct kube_answer *reply)
{
    struct fake_request *request = fake_sender_take(&harness->server);
    assert_non_null(request);
    fake_request_answer(request, reply);
}

void answer_len(struct auth_harness *harness, unsigned status, const char *body, size_t len)
{
    struct kube_answer reply = kube_answered(harness->now_ms, status, body);
    reply.body_len = len;
    give(harness, &reply);
}

void answer(struct auth_harness *harness, unsigned status, const char *body)
{
    char *quoted = quotes(body);
    answer_len(harness, status, quoted, strlen(quoted));
    free(quoted);
}

void no_answer(struct auth_harness *harness, enum kube_outcome outcome)
{
    const struct kube_answer reply = kube_unanswered(harness->now_ms, outcome, "gone");
    give(harness, &reply);
}

void token_is_of(struct auth_harness *harness, const char *user)
{
    char body[512];
    check_asked(harness, TOKENS, NULL);
    (void)snprintf(
        body, sizeof body,
        "{'kind':'TokenReview','status':{'authenticated':true,'user':{'username':'%s'}}}", user);
    answer(harness, 201, body);
}

void token_is_nobodys(struct auth_harness *harness)
{
    check_asked(harness, TOKENS, NULL);
    answer(harness, 201, "{'kind':'TokenReview','status':{'error':'invalid bearer token'}}");
}

void may(struct auth_harness *harness, bool allowed)
{
    check_asked(harness, ACCESS, NULL);
    answer(harness, 201,
           allowed ? "{'kind':'SubjectAccessReview','status':{'allowed':true}}"
                   : "{'kind':'SubjectAccessReview','status':{'allowed':false}}");
}

void let_in(struct auth_harness *harness, const char *path, const char *token)
{
    struct guest guest = come(harness, path, token);
    assert_int_equal(guest.verdict, AUTH_ASK);
    token_is_of(harness, "jane");
    may(harness, true);
    check_in(&guest);
}

void check_not_asked(struct auth_harness *harness, struct guest *guest)
{
    check_silence(harness);
    check_answer(guest, 503, NOT_ASKED);
    let_in(harness, "/metrics", "t");
    harness->now_ms += ALLOWED_MS;
}

double metric(struct auth_harness *harness, const char *line)
{
    struct buf text;
    char wanted[128];
    buf_init(&text, BUF_UNBOUNDED);
    auth_metrics(harness->auth, &text);
    (void)snprintf(wanted, sizeof wanted, "\n%s", line);
    const char *found = strstr(buf_text(&text), wanted);
    const double value = found ? strtod(found + strlen(wanted), NULL) : -1;
    buf_fini(&text);
    return value;
}
