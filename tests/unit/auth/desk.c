/* desk: see desk.h. */
#include "desk.h"
#include "kube_answers.h"

int desk_setup(void **state)
{
    struct desk *desk = MEM_NEW(struct desk);
    const struct auth_settings settings = {.allowed_ms = ALLOWED_MS, .refused_ms = REFUSED_MS};
    fake_sender_init(&desk->server);
    desk->auth = auth_new(&settings, fake_sender_of(&desk->server));
    desk->now_ms = 1000;
    *state = desk;
    return 0;
}

int desk_teardown(void **state)
{
    struct desk *desk = *state;
    fake_sender_fini(&desk->server);
    auth_free(desk->auth);
    free(desk);
    return 0;
}

struct judging {
    struct desk *desk;
    enum auth_verdict verdict;
};

static void judge(void *context, struct exchange *exchange)
{
    struct judging *judging = context;
    judging->verdict = auth_judge(judging->desk->auth, exchange, judging->desk->now_ms);
}

struct guest come_as(struct desk *desk, const struct fake_question *question)
{
    struct judging judging = {.desk = desk};
    struct exchange *exchange = fake_begin(judge, &judging, question);
    if (judging.verdict == AUTH_ASK)
        auth_ask(desk->auth, exchange, desk->now_ms);
    else if (judging.verdict == AUTH_OPEN)
        exchange_pass(exchange);
    return (struct guest){judging.verdict, exchange};
}

struct guest come(struct desk *desk, const char *path, const char *token)
{
    char header[128];
    (void)snprintf(header, sizeof header, "Bearer %s", token);
    const struct fake_question question = {.method = "GET", .path = path, .authorization = header};
    return come_as(desk, &question);
}

void check_answer(struct guest *guest, unsigned status, const char *message)
{
    struct fake_answer given = fake_end(guest->exchange);
    assert_int_equal(given.status, status);
    if (message) {
        struct buf text;
        buf_init(&text, BUF_UNBOUNDED);
        buf_add_text(&text, "{\"error\": ");
        buf_add_quoted(&text, message);
        buf_add_text(&text, "}\n");
        assert_string_equal(given.body, buf_text(&text));
        buf_fini(&text);
    }
    assert_int_equal(given.flags, status == 503 ? EXCHANGE_RETRY : 0);
    fake_answer_fini(&given);
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

void check_asked(struct desk *desk, const char *path, const char *body)
{
    const struct fake_request *request = desk->server.requests;
    assert_non_null(request);
    assert_string_equal(request->method, "POST");
    assert_string_equal(request->path, path);
    if (body) {
        char *quoted = quotes(body);
        assert_string_equal(request->body, quoted);
        free(quoted);
    }
}

void check_silence(struct desk *desk)
{
    assert_null(desk->server.requests);
}

static void give(struct desk *desk, const struct kube_answer *given)
{
    struct fake_request *request = fake_sender_take(&desk->server);
    assert_non_null(request);
    fake_request_answer(request, given);
}

void answer_len(struct desk *desk, unsigned status, const char *body, size_t len)
{
    struct kube_answer given = kube_answered(desk->now_ms, status, body);
    given.body_len = len;
    give(desk, &given);
}

void answer(struct desk *desk, unsigned status, const char *body)
{
    char *quoted = quotes(body);
    answer_len(desk, status, quoted, strlen(quoted));
    free(quoted);
}

void no_answer(struct desk *desk, enum kube_outcome outcome)
{
    const struct kube_answer given = kube_unanswered(desk->now_ms, outcome, "gone");
    give(desk, &given);
}

void token_is_of(struct desk *desk, const char *user)
{
    char body[512];
    check_asked(desk, TOKENS, NULL);
    (void)snprintf(
        body, sizeof body,
        "{'kind':'TokenReview','status':{'authenticated':true,'user':{'username':'%s'}}}", user);
    answer(desk, 201, body);
}

void token_is_nobodys(struct desk *desk)
{
    check_asked(desk, TOKENS, NULL);
    answer(desk, 201, "{'kind':'TokenReview','status':{'error':'invalid bearer token'}}");
}

void may(struct desk *desk, bool allowed)
{
    check_asked(desk, ACCESS, NULL);
    answer(desk, 201,
           allowed ? "{'kind':'SubjectAccessReview','status':{'allowed':true}}"
                   : "{'kind':'SubjectAccessReview','status':{'allowed':false}}");
}

void let_in(struct desk *desk, const char *path, const char *token)
{
    struct guest guest = come(desk, path, token);
    assert_int_equal(guest.verdict, AUTH_ASK);
    token_is_of(desk, "jane");
    may(desk, true);
    check_in(&guest);
}

void check_not_asked(struct desk *desk, struct guest *guest)
{
    check_silence(desk);
    check_answer(guest, 503, NOT_ASKED);
    let_in(desk, "/metrics", "t");
    desk->now_ms += ALLOWED_MS;
}

double metric(struct desk *desk, const char *line)
{
    struct buf text;
    char wanted[128];
    buf_init(&text, BUF_UNBOUNDED);
    auth_metrics(desk->auth, &text);
    (void)snprintf(wanted, sizeof wanted, "\n%s", line);
    const char *found = strstr(buf_text(&text), wanted);
    const double value = found ? strtod(found + strlen(wanted), NULL) : -1;
    buf_fini(&text);
    return value;
}
