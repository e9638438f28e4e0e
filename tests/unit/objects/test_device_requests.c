/* device_requests: the requests of claims, templates and classes, in each version of the API; and
 * the selectors of a class, which read back from a snapshot. */
#include "base/buf.h"
#include "base/mem.h"
#include "fixture.h"
#include "objects/claims.h"
#include "objects/device_requests.h"
#include "objects/to_json.h"

#include <string.h>

static json_t *read_json(const char *text)
{
    json_error_t error;
    json_t *json = json_loads(text, 0, &error);
    if (!json)
        fail_msg("%s: %s", error.text, text);
    return json;
}

static void assert_requests(void **state, const char *kind, const char *object, const char *wanted)
{
    const struct fixture *fixture = *state;
    struct device_request_list list = {0};
    struct buf got;
    buf_init(&got, BUF_UNBOUNDED);
    json_auto_t *json = read_json(object);
    device_requests_find(json, kind, "ns", "x", fixture->arena, &list);
    for (size_t i = 0; i < list.n; i++) {
        const struct device_request *request = &list.items[i];
        buf_printf(&got, "%s%s: %s (%s)", i > 0 ? "; " : "", request->object, request->path,
                   request->class_name);
        for (size_t j = 0; j < request->n_selectors; j++)
            buf_printf(&got, " %s", request->selectors[j].expression);
    }
    assert_string_equal(buf_text(&got), wanted);
    assert_false(list.is_cut);
    buf_fini(&got);
}

#define SELECTORS                                                                                  \
    "\"selectors\": [{\"cel\": {\"expression\": \"a\"}}, {\"cel\": {\"expression\": \"b\"}}]"
#define SPEC(request) "{\"devices\": {\"requests\": [" request "]}}"

static void test_requests_of_each_kind(void **state)
{
    assert_requests(
        state, "ResourceClaim",
        "{\"spec\": " SPEC("{\"exactly\": {\"deviceClassName\": \"c\", " SELECTORS "}}") "}",
        "ResourceClaim ns/x: spec.devices.requests[0].exactly (c) a b");
    assert_requests(
        state, "resourceclaimtemplate",
        "{\"spec\": {\"spec\": " SPEC("{\"firstAvailable\": [{\"deviceClassName\": \"c\"}, "
                                      "{\"deviceClassName\": \"d\", " SELECTORS "}]}") "}}",
        "resourceclaimtemplate ns/x: spec.spec.devices.requests[0].firstAvailable[0] "
        "(c); resourceclaimtemplate ns/x: "
        "spec.spec.devices.requests[0].firstAvailable[1] (d) a b");
    assert_requests(state, "ResourceClaim",
                    "{\"spec\": " SPEC("{\"deviceClassName\": \"c\", " SELECTORS "}") "}",
                    "ResourceClaim ns/x: spec.devices.requests[0] (c) a b");
    assert_requests(state, "DeviceClass", "{\"spec\": {" SELECTORS "}}",
                    "DeviceClass x: spec (x) a b");
    assert_requests(state, "Pod", "{\"spec\": " SPEC("{\"deviceClassName\": \"c\"}") "}", "");
}

static void test_what_has_no_requests(void **state)
{
    assert_requests(state, "ResourceClaim", "{}", "");
    assert_requests(state, "ResourceClaim", "{\"spec\": 7}", "");
    assert_requests(state, "ResourceClaim", "{\"spec\": " SPEC("7, {}, null") "}", "");
    assert_requests(state, "DeviceClass", "{\"spec\": {\"selectors\": [7, {\"cel\": 7}, {}]}}",
                    "DeviceClass x: spec (x)");
}

static json_t *many(size_t n, size_t n_selectors)
{
    json_t *requests = json_array();
    for (size_t i = 0; i < n; i++) {
        json_t *selectors = json_array();
        for (size_t j = 0; j < n_selectors; j++)
            (void)json_array_append_new(selectors,
                                        json_pack("{s:{s:s}}", "cel", "expression", "true"));
        (void)json_array_append_new(
            requests,
            json_pack("{s:{s:s, s:o}}", "exactly", "deviceClassName", "c", "selectors", selectors));
    }
    return json_pack("{s:{s:{s:o}}}", "spec", "devices", "requests", requests);
}

static void test_what_is_left_out_is_marked(void **state)
{
    const struct fixture *fixture = *state;
    struct device_request_list list = {0};
    json_auto_t *selectors = many(3, 150);
    device_requests_find(selectors, "ResourceClaim", "ns", "x", fixture->arena, &list);
    assert_true(list.is_cut);
    assert_int_equal(list.n, 3);
    assert_int_equal(list.n_selectors, DEVICE_SELECTORS_MAX);
    assert_false(list.items[1].lacks_selectors);
    assert_true(list.items[2].lacks_selectors);
    list = (struct device_request_list){0};
    json_auto_t *requests = many(DEVICE_REQUESTS_MAX + 1, 0);
    device_requests_find(requests, "ResourceClaim", "ns", "x", fixture->arena, &list);
    assert_true(list.is_cut && !list.lacks_classes);
    assert_int_equal(list.n, DEVICE_REQUESTS_MAX);
    json_auto_t *class = json_object();
    device_requests_find(class, "DeviceClass", "", "c", fixture->arena, &list);
    assert_true(list.lacks_classes);
}

/* n selectors, each of len bytes. */
static struct selector_texts read_class(const struct fixture *fixture, size_t n, size_t len)
{
    json_auto_t *text = json_string("");
    char *bytes = arena_alloc(fixture->arena, len + 1);
    memset(bytes, 'a', len);
    (void)json_string_set(text, bytes);
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        (void)json_array_append_new(list, json_pack("{s:{s:O}}", "cel", "expression", text));
    json_auto_t *class = json_pack("{s:{s:o}}", "spec", "selectors", list);
    return device_class_selectors(class, fixture->arena);
}

static void test_selectors_of_a_class_are_bounded(void **state)
{
    const struct fixture *fixture = *state;
    assert_int_equal(read_class(fixture, SELECTOR_TEXTS_MAX, 10).n, SELECTOR_TEXTS_MAX);
    assert_true(read_class(fixture, SELECTOR_TEXTS_MAX + 1, 10).is_cut);
    assert_int_equal(read_class(fixture, 1, SELECTOR_TEXTS_BYTES_MAX - 1).n, 1);
    assert_true(read_class(fixture, 1, SELECTOR_TEXTS_BYTES_MAX).is_cut);
    assert_true(read_class(fixture, 2, SELECTOR_TEXTS_BYTES_MAX / 2).is_cut);
}

static void assert_read_back(const struct fixture *fixture, const struct selector_texts *selectors)
{
    json_auto_t *json = device_class_to_json(
        &(struct device_class_facts){.name = "c", .driver = "d", .selectors = *selectors});
    const struct selector_texts back = device_class_selectors(json, fixture->arena);
    assert_true(selector_texts_equal(selectors, &back));
}

static void test_selectors_of_a_class_read_back(void **state)
{
    const struct fixture *fixture = *state;
    static const char *const FAULTY[] = {"7", "[{}]", "[{\"cel\": {}}]", "[7]"};
    const char *const texts[] = {"device.driver == 'd'", ""};
    assert_read_back(fixture, &(struct selector_texts){0});
    assert_read_back(fixture, &(struct selector_texts){texts, 2, false});
    assert_read_back(fixture, &(struct selector_texts){.is_cut = true});
    for (size_t i = 0; i < sizeof FAULTY / sizeof *FAULTY; i++) {
        json_auto_t *json = json_pack("{s:{s:o}}", "spec", "selectors",
                                      json_loads(FAULTY[i], JSON_DECODE_ANY, NULL));
        assert_true(device_class_selectors(json, fixture->arena).is_cut);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_requests_of_each_kind),
        FIXTURE_TEST(test_what_has_no_requests),
        FIXTURE_TEST(test_what_is_left_out_is_marked),
        FIXTURE_TEST(test_selectors_of_a_class_are_bounded),
        FIXTURE_TEST(test_selectors_of_a_class_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
