/* Invalid or unexpected answers of the API server admit no user and are not cached. */
#include "auth_harness.h"

static void test_failed_reviews_admit_nobody(void **state)
{
    struct auth_harness *harness = *state;
    static const unsigned STATUSES[] = {200, 301, 400, 401, 403, 404, 409, 429, 500, 503};
    for (size_t i = 0; i < 2 * sizeof STATUSES / sizeof *STATUSES; i++) {
        struct guest guest = come(harness, "/metrics", "t");
        if (i % 2)
            token_is_of(harness, "jane");
        answer(harness, STATUSES[i / 2], "{'kind':'Status','status':'Failure','message':'no'}");
        check_not_asked(harness, &guest);
    }
    for (size_t i = 0; i < 4; i++) {
        struct guest guest = come(harness, "/metrics", "t");
        if (i % 2)
            token_is_of(harness, "jane");
        no_answer(harness, i < 2 ? KUBE_UNKNOWN : KUBE_NOT_SENT);
        check_not_asked(harness, &guest);
    }
    assert_float_equal(
        metric(harness,
               "gpu_extender_auth_reviews_total{review=\"TokenReview\",result=\"failed\"} "),
        12, 0);
    assert_float_equal(
        metric(
            harness,
            "gpu_extender_auth_reviews_total{review=\"SubjectAccessReview\",result=\"failed\"} "),
        12, 0);
    assert_float_equal(
        metric(harness, "gpu_extender_auth_reviews_total{review=\"TokenReview\",result=\"yes\"} "),
        36, 0);
}

static void test_answers_of_hostile_token_reviews(void **state)
{
    struct auth_harness *harness = *state;
    static const char *const BODIES[] = {
        "",
        "null",
        "[]",
        "{'kind':'TokenReview','status':{'authenticated':true,'user':{'username':'a'}}",
        "{'kind':'TokenReview'}",
        "{'kind':'TokenReview','status':null}",
        "{'kind':'TokenReview','status':[]}",
        "{'kind':'tokenreview','status':{'authenticated':true,'user':{'username':'a'}}}",
        "{'kind':['TokenReview'],'status':{'authenticated':true,'user':{'username':'a'}}}",
        "{'status':{'authenticated':true,'user':{'username':'a'}}}",
        "{'kind':'SubjectAccessReview','status':{'allowed':true}}",
        "{'kind':'TokenReview','status':{'authenticated':'true','user':{'username':'a'}}}",
        "{'kind':'TokenReview','status':{'authenticated':1,'user':{'username':'a'}}}",
        "{'kind':'TokenReview','status':{'authenticated':true}}",
        "{'kind':'TokenReview','status':{'authenticated':true,'user':'a'}}",
        "{'kind':'TokenReview','status':{'authenticated':true,'user':{}}}",
        "{'kind':'TokenReview','status':{'authenticated':true,'user':{'username':''}}}",
        "{'kind':'TokenReview','status':{'authenticated':true,'user':{'username':7}}}",
        "{'kind':'TokenReview','status':{'authenticated':true,'user':{'username':'a\\u0000b'}}}",
        ("{'kind':'TokenReview','status':{'authenticated':true,'user':{'username':'a','username':"
         "'b'}}}"),
        "{'kind':'TokenReview','status':{'authenticated':true,'user':{'username':'a','uid':1}}}",
        ("{'kind':'TokenReview','status':{'authenticated':true,'user':{'username':'a','groups':"
         "'g'}}}"),
        ("{'kind':'TokenReview','status':{'authenticated':true,'user':{'username':'a','groups':[1]}"
         "}"
         "}"),
        "{'kind':'TokenReview','status':{'authenticated':true,'user':{'username':'a','extra':[]}}}",
        ("{'kind':'TokenReview','status':{'authenticated':true,'user':{'username':'a','extra':{'k':"
         "'v'}}}}"),
        "{'kind':'TokenReview','status':{'authenticated':true,'user':{'username':'a\xff'}}}",
    };
    for (size_t i = 0; i < sizeof BODIES / sizeof *BODIES; i++) {
        struct guest guest = come(harness, "/metrics", "t");
        check_asked(harness, TOKENS, NULL);
        answer(harness, 201, BODIES[i]);
        check_not_asked(harness, &guest);
    }
}

static void test_user_over_the_size_limit_is_rejected(void **state)
{
    struct auth_harness *harness = *state;
    struct buf body;
    buf_init(&body, BUF_UNBOUNDED);
    buf_add_text(&body, "{\"kind\":\"TokenReview\",\"status\":{\"authenticated\":true,"
                        "\"user\":{\"username\":\"jane\",\"groups\":[\"g\"");
    while (body.len < (size_t)70 * 1024)
        buf_add_text(&body, ",\"a-group-of-many\"");
    buf_add_text(&body, "]}}}");
    struct guest guest = come(harness, "/metrics", "t");
    answer_len(harness, 201, buf_text(&body), body.len);
    check_not_asked(harness, &guest);
    buf_fini(&body);
}

static void test_a_nul_in_an_answer(void **state)
{
    struct auth_harness *harness = *state;
    static const char BODY[] = "{\"kind\":\"TokenReview\",\0\"status\":{\"authenticated\":true,"
                               "\"user\":{\"username\":\"jane\"}}}";
    struct guest guest = come(harness, "/metrics", "t");
    answer_len(harness, 201, BODY, sizeof BODY - 1);
    check_not_asked(harness, &guest);
}

static void test_answers_of_hostile_access_reviews(void **state)
{
    struct auth_harness *harness = *state;
    static const char *const BODIES[] = {
        "",
        "true",
        "{'kind':'SubjectAccessReview'}",
        "{'kind':'SubjectAccessReview','status':{}}",
        "{'kind':'SubjectAccessReview','status':{'allowed':null}}",
        "{'kind':'SubjectAccessReview','status':{'allowed':'true'}}",
        "{'kind':'SubjectAccessReview','status':{'allowed':1}}",
        "{'kind':'SubjectAccessReview','status':{'allowed':true,'denied':'no'}}",
        "{'kind':'SubjectAccessReview','status':{'allowed':true,'allowed':false}}",
        "{'kind':'TokenReview','status':{'allowed':true}}",
    };
    for (size_t i = 0; i < sizeof BODIES / sizeof *BODIES; i++) {
        struct guest guest = come(harness, "/metrics", "t");
        token_is_of(harness, "jane");
        check_asked(harness, ACCESS, NULL);
        answer(harness, 201, BODIES[i]);
        check_not_asked(harness, &guest);
    }
}

static void test_allowed_and_denied_counts_as_denied(void **state)
{
    struct auth_harness *harness = *state;
    struct guest guest = come(harness, "/metrics", "t");
    token_is_of(harness, "jane");
    answer(harness, 201, "{'kind':'SubjectAccessReview','status':{'allowed':true,'denied':true}}");
    check_answer(&guest, 403, NULL);
}

/* Redacting the token in an answer must not redact an equal name. */
static void test_a_user_named_like_the_token_is_not_redacted(void **state)
{
    struct auth_harness *harness = *state;
    struct guest guest = come(harness, "/metrics", "jane");
    answer(harness, 201,
           "{'kind':'TokenReview','spec':{'token':'jane'},'status':{'authenticated':true,"
           "'user':{'username':'jane','extra':{'token':['jane']}}}}");
    check_asked(harness, ACCESS,
                "{'apiVersion':'authorization.k8s.io/v1','kind':'SubjectAccessReview','spec':{"
                "'user':'jane','extra':{'token':['jane']},"
                "'nonResourceAttributes':{'path':'/metrics','verb':'get'}}}");
    may(harness, false);
    check_answer(&guest, 403, "forbidden: User \"jane\" cannot get path \"/metrics\"");
}

/* Redacting this token would break the JSON. */
static void test_another_token_in_the_answer_is_not_redacted(void **state)
{
    struct auth_harness *harness = *state;
    struct guest guest = come(harness, "/metrics", "ten-letter");
    answer(harness, 201,
           "{'kind':'TokenReview','spec':{'token':'x'},'a':'z','status':{'authenticated':true,"
           "'user':{'username':'jane'}}}");
    may(harness, true);
    check_in(&guest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_failed_reviews_admit_nobody),
        TEST(test_answers_of_hostile_token_reviews),
        TEST(test_user_over_the_size_limit_is_rejected),
        TEST(test_a_nul_in_an_answer),
        TEST(test_answers_of_hostile_access_reviews),
        TEST(test_allowed_and_denied_counts_as_denied),
        TEST(test_a_user_named_like_the_token_is_not_redacted),
        TEST(test_another_token_in_the_answer_is_not_redacted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
