/* pod_claims: the claims that a pod names, what claims ask for, and the driver of a class. */
#include "fixture.h"
#include "objects/claims.h"
#include "objects/pod.h"
#include "unit.h"

static struct pod_facts read_pod(struct fixture *fixture, const char *text)
{
    struct pod_facts facts = {0};
    const json_t *json = fixture_json(fixture, text);
    if (pod_from_json(json, &fixture->policy, fixture->arena, &facts, &fixture->err) < 0)
        fail_msg("%s in %s", fixture->err.text, text);
    return facts;
}

#define POD(claims, statuses)                                                                      \
    "{'metadata': {'name': 'p'}, 'spec': {'resourceClaims': [" claims "]},"                        \
    " 'status': {'resourceClaimStatuses': [" statuses "]}}"
#define BY_TEMPLATE "{'name': 't', 'resourceClaimTemplateName': 'of-1'}"

static void test_the_claims_that_a_pod_names(void **state)
{
    static const struct {
        const char *pod, *claims;
    } CASES[] = {
        {POD("", ""), NULL},
        {POD("{'name': 'x', 'resourceClaimName': 'a'}", ""), "a\n"},
        {POD("{'name': 'x', 'resourceClaimName': 'a'}, {'name': 'y', 'resourceClaimName': 'b'},"
             "{'name': 'z', 'resourceClaimName': 'a'}",
             ""),
         "a\nb\n"},
        {POD(BY_TEMPLATE, ""), "/of-1\n"},
        {POD(BY_TEMPLATE ",{'name': 'u', 'resourceClaimTemplateName': 'of-1'}", ""),
         "/of-1\n/of-1\n"}, /* two claims */
        {POD(BY_TEMPLATE, "{'name': 'other', 'resourceClaimName': 'p-1'}"), "/of-1\n"},
        {POD("{'name': 't', 'resourceClaimTemplateName': 'a\\nb'}", ""), "\n"},
        {POD("{'name': 'x', 'resourceClaimName': '/of-1'}", ""), "\n"},
        {POD(BY_TEMPLATE, "{'name': 't', 'resourceClaimName': 'p-t-1'}"), "p-t-1\n"},
        {POD(BY_TEMPLATE, "{'name': 't'}"), NULL}, /* needs none */
        {POD("{'name': 'x', 'resourceClaimName': 'a\\nb'}", ""), "\n"},
        {POD("{'name': 'x'}, 7", ""), NULL},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const struct pod_facts facts = read_pod(*state, CASES[i].pod);
        const char *claims = facts.claims ? facts.claims : "none";
        const char *wanted = CASES[i].claims ? CASES[i].claims : "none";
        if (strcmp(claims, wanted) != 0)
            fail_msg("%s, should be %s, in %s", claims, wanted, CASES[i].pod);
        assert_null(facts.refusal);
    }
}

static void test_the_templates_of_claims_that_are_made(void **state)
{
    const struct pod_facts facts =
        read_pod(*state, POD("{'name': 'x', 'resourceClaimName': 'a'}," BY_TEMPLATE
                             ",{'name': 'y', 'resourceClaimName': 'a'},"
                             "{'name': 'u', 'resourceClaimTemplateName': 'of-2'}",
                             "{'name': 't', 'resourceClaimName': 'p-t-1'}"));
    assert_string_equal(facts.claims, "a\np-t-1\n/of-2\n");
    assert_string_equal(facts.templates, "a\n/of-1\n/of-2\n");
    assert_int_equal(facts.made_claims, 2);
}

static const char *pod_with_claims(struct fixture *fixture, size_t n)
{
    const char *list = "";
    for (size_t i = 0; i < n; i++)
        list = arena_printf(fixture->arena, "%s%s{'name': 'c%zu', 'resourceClaimName': 'c%zu'}",
                            list, i > 0 ? "," : "", i, i);
    return arena_printf(fixture->arena,
                        "{'metadata': {'name': 'p'}, 'spec': {'resourceClaims': [%s]}}", list);
}

/* Else a tenant could hide claims behind others. */
static void test_more_claims_than_quotas_judge(void **state)
{
    struct fixture *fixture = *state;
    assert_null(read_pod(fixture, pod_with_claims(fixture, POD_CLAIMS_MAX + 1)).refusal);
    const struct quota_limit limit = {.gpus = 4};
    const struct quota quota = {.name = "q", .limits = &limit, .n_limits = 1};
    assert_int_equal(policy_add_quota(&fixture->policy, &quota, NULL), 0);
    assert_null(read_pod(fixture, pod_with_claims(fixture, POD_CLAIMS_MAX)).refusal);
    assert_string_equal(read_pod(fixture, pod_with_claims(fixture, POD_CLAIMS_MAX + 1)).refusal,
                        "spec.resourceClaims: are more than 32, which no quota judges");
}

#define CLAIM(requests)                                                                            \
    "{'metadata': {'name': 'c'}, 'spec': {'devices': {'requests': [" requests "]}}}"
#define EXACTLY(class, members) "{'exactly': {'deviceClassName': '" class "'" members "}}"
#define OF(driver)                                                                                 \
    ", 'selectors': [{'cel': {'expression': 'device.driver == \\\"" driver "\\\" && true'}}]"
#define FIRST(items) "{'firstAvailable': [" items "]}"

static const char *wants_of(struct fixture *fixture, const char *text)
{
    struct claim_facts facts = {0};
    const char *wants = "";
    const json_t *json = fixture_json(fixture, text);
    if (resource_claim_from_json(json, fixture->arena, &facts, &fixture->err) < 0)
        fail_msg("%s in %s", fixture->err.text, text);
    for (size_t i = 0; i < facts.n_wants; i++)
        wants = arena_printf(fixture->arena, "%s%s%s%s %d;", wants, facts.wants[i].class_name,
                             facts.wants[i].driver[0] ? " of " : "", facts.wants[i].driver,
                             (int)facts.wants[i].n_devices);
    return wants;
}

static void test_what_a_claim_asks_of_classes(void **state)
{
    static const struct {
        const char *claim, *wants;
    } CASES[] = {
        {CLAIM(""), ""},
        {CLAIM(EXACTLY("a", "")), "a 1;"},
        {CLAIM(EXACTLY("a", ", 'count': 2") "," EXACTLY("b", "") "," EXACTLY("a", "")), "a 3;b 1;"},
        {CLAIM("{'name': 'r', 'deviceClassName': 'a', 'count': 3}"), "a 3;"}, /* v1beta1 */
        {CLAIM(EXACTLY("a", ", 'allocationMode': 'All'")), "a 1;"},
        {CLAIM(EXACTLY("a", ", 'count': 2, 'adminAccess': true")), ""},
        {CLAIM(FIRST("{'deviceClassName': 'a', 'count': 4}, {'deviceClassName': 'a', 'count': 2}")),
         "a 2;"},
        {CLAIM(FIRST("{'deviceClassName': 'a'}, {'deviceClassName': 'b'}")), ""},
        {CLAIM(EXACTLY("a", OF("x")) "," EXACTLY("a", "") "," EXACTLY("a", OF("x"))),
         "a of x 2;a 1;"},
        {CLAIM(FIRST("{'deviceClassName': 'a'" OF("x") "}, {'deviceClassName': 'b'" OF("x") "}")),
         " of x 1;"},
        {CLAIM(FIRST("{'deviceClassName': 'a'" OF("x") "}, {'deviceClassName': 'a'" OF("y") "}")),
         "a 1;"},
        {CLAIM(EXACTLY("a",
                       ", 'selectors': [{'cel': {'expression': 'true || device.driver == 1'}}]")),
         "a 1;"},
        {CLAIM(EXACTLY("a", "") "," EXACTLY("b", "") "," EXACTLY("c", "") "," EXACTLY(
             "d", "") "," EXACTLY("e", "") "," EXACTLY("a", "")),
         "a 2;b 1;c 1;d 1;"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const char *wants = wants_of(*state, CASES[i].claim);
        if (strcmp(wants, CASES[i].wants) != 0)
            fail_msg("%s, should be %s, in %s", wants, CASES[i].wants, CASES[i].claim);
    }
}

static void test_the_driver_of_a_class(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        const char *expression, *driver;
    } CASES[] = {
        {"device.driver == 'gpu.nvidia.com'", "gpu.nvidia.com"},
        {" device.driver=='d' ", "d"},
        {"device.driver == 'd' && device.attributes['d'].type == 'gpu'", "d"},
        {"device.driver == 'd' || true", ""},
        {"device.driver == 'd' && false || true", ""},
        {"device.driver == 'd' ? true : true", ""},
        {"device.driver == 'd' && (a ? b : c)", "d"},
        {"device.driver == 'd' && a ? b : c", ""},
        {"device.driver == 'd' + 'e'", ""},
        {"device.driver == 'd", ""},
        {"device.driver == d", ""},
        {"device.driver != 'd'", ""},
        {"!(device.driver == 'd')", ""},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        json_t *json = json_pack("{s:{s:[{}, {s:{s:s}}]}}", "spec", "selectors", "cel",
                                 "expression", CASES[i].expression);
        const char *driver = device_class_driver(json, fixture->arena);
        if (strcmp(driver, CASES[i].driver) != 0)
            fail_msg("\"%s\", should be \"%s\", of %s", driver, CASES[i].driver,
                     CASES[i].expression);
        json_decref(json);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_the_claims_that_a_pod_names),
        FIXTURE_TEST(test_the_templates_of_claims_that_are_made),
        FIXTURE_TEST(test_more_claims_than_quotas_judge),
        FIXTURE_TEST(test_what_a_claim_asks_of_classes),
        FIXTURE_TEST(test_the_driver_of_a_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
