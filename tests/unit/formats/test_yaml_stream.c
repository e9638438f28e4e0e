/* yaml_each: documents and items one at a time, dropped subtrees, limits. */
#include "formats/yaml_json.h"
#include "seen.h"
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const DROP[] = {"metadata.managedFields", "metadata.annotations.k8s.io/last",
                                   "status", "spec.list[].env", NULL};
static const struct yaml_options OPTIONS = {.drop = DROP, .max_depth = 20, .max_values = 100};

static int each(const char *yaml, size_t len, const struct json_stream_handler *handler,
                struct err *err)
{
    struct bytes_at_hand bytes = {yaml, len};
    return yaml_each(bytes_read_at_hand, &bytes, &OPTIONS, handler, err);
}

static int read_all(const char *yaml, int answer, struct seen *seen, struct err *err)
{
    struct json_stream_handler handler = seen_handler(seen, answer);
    return each(yaml, strlen(yaml), &handler, err);
}

static int go_on(void *context, const struct err *fault)
{
    (void)context;
    (void)fault;
    return 0;
}

static void check_seen(const char *yaml, const char *expected)
{
    struct seen seen;
    struct err err = {""};
    if (read_all(yaml, 0, &seen, &err) < 0)
        fail_msg("%s\n%s", yaml, err.text);
    if (strcmp(buf_text(&seen.text), expected) != 0)
        fail_msg("%s\nis\n%s\nshould\n%s", yaml, buf_text(&seen.text), expected);
    buf_fini(&seen.text);
}

static void check_refused(const char *yaml, int code, const char *seen_before, const char *expected)
{
    struct seen seen;
    struct err err = {""};
    assert_int_equal(read_all(yaml, 0, &seen, &err), code);
    assert_string_equal(err.text, expected);
    assert_string_equal(buf_text(&seen.text), seen_before);
    buf_fini(&seen.text);
}

static void test_documents_come_in_order_and_empty_ones_do_not(void **state)
{
    (void)state;
    check_seen("# head\n---\na: 1\n---\n# nothing\n---\n- b\n...\n---\ntext\n",
               "envelope 3:1 {\"a\":1}\nenvelope 7:1 [\"b\"]\nenvelope 10:1 \"text\"\n");
    check_seen("", "");
}

static void test_items_come_one_at_a_time_before_their_envelope(void **state)
{
    (void)state;
    check_seen("apiVersion: v1\nitems:\n- a: 1\n- 5\n- [x]\nkind: List\n",
               "item 3:3 {\"a\":1}\nitem 4:3 5\nitem 5:3 [\"x\"]\n"
               "envelope 1:1 {\"apiVersion\":\"v1\",\"kind\":\"List\"}\n");
    check_seen("items: text\n", "envelope 1:1 {\"items\":\"text\"}\n");
    check_seen("items: []\n---\nspec:\n  items: [1]\n",
               "envelope 1:1 {}\nenvelope 3:1 {\"spec\":{\"items\":[1]}}\n");
    check_seen("- items: [1]\n", "envelope 1:1 [{\"items\":[1]}]\n");
}

static void test_items_by_alias_or_merge_are_reported(void **state)
{
    (void)state;
    check_seen("x: &x [1, 2]\nitems: *x\n", "item 1:1 1\nitem 1:1 2\nenvelope 1:1 {\"x\":[1,2]}\n");
    check_seen("x: &x {items: [1]}\n<<: *x\n",
               "item 1:1 1\nenvelope 1:1 {\"x\":{\"items\":[1]}}\n");
}

static void test_dropped_subtrees_are_not_built(void **state)
{
    (void)state;
    check_seen("items:\n- metadata:\n    managedFields: [{a: b}]\n    name: x\n"
               "    annotations: {k8s.io/last: long, k8s.io/lasting: z}\n  status: {a: [b]}\n"
               "  spec: {status: kept}\nstatus: 5\nmetadata: {managedFields: 1}\n",
               "item 2:3 {\"metadata\":{\"name\":\"x\",\"annotations\":{\"k8s.io/lasting\":\"z\"}},"
               "\"spec\":{\"status\":\"kept\"}}\nenvelope 1:1 {\"metadata\":{}}\n");
}

static void test_members_of_a_sequences_elements_are_not_built(void **state)
{
    (void)state;
    check_seen("spec: {list: [{env: [1], k: 1}, 7, [{env: 2}]], env: 1}\n",
               "envelope 1:1 {\"spec\":{\"list\":[{\"k\":1},7,[{\"env\":2}]],\"env\":1}}\n");
    check_seen("spec: {list: {env: 1}}\n", "envelope 1:1 {\"spec\":{\"list\":{\"env\":1}}}\n");
    check_seen("status: &s [{env: 1}]\nspec: {list: *s}\n",
               "envelope 1:1 {\"spec\":{\"list\":[{\"env\":1}]}}\n");
}

static void test_anchors_in_dropped_subtrees_can_be_used(void **state)
{
    (void)state;
    check_seen("status: {a: &a {x: 1}, b: &b 2, c: *b}\nspec: {<<: *a, w: *b}\n",
               "envelope 1:1 {\"spec\":{\"x\":1,\"w\":2}}\n");
    check_seen("items:\n- &one {a: 1}\n- b: *one\n",
               "item 2:3 {\"a\":1}\nitem 3:3 {\"b\":{\"a\":1}}\nenvelope 1:1 {}\n");
    check_refused("status: [*none]\n", -EINVAL, "", "1:10: no anchor &none before this alias");
    check_refused("items: &all [1]\nx: *all\n", -EINVAL, "item 1:14 1\n",
                  "2:4: the alias *all cannot be used: its anchor is the list of items, which is "
                  "not kept");
}

static void test_anchors_end_with_their_document(void **state)
{
    (void)state;
    check_refused("a: &a 1\n---\nb: *a\n", -EINVAL, "envelope 1:1 {\"a\":1}\n",
                  "3:4: no anchor &a before this alias");
}

static void test_duplicate_keys_are_found_in_dropped_subtrees(void **state)
{
    (void)state;
    check_refused("status: 1\na: 1\nstatus: 2\n", -EINVAL, "",
                  "3:1: the key \"status\" is here twice; it stands at 1:1 too");
    check_refused("items: []\nitems: 2\n", -EINVAL, "",
                  "2:1: the key \"items\" is here twice; it stands at 1:1 too");
}

static void test_limits_are_those_of_one_object(void **state)
{
    (void)state;
    struct buf yaml;
    buf_init(&yaml, 100000);
    buf_add_text(&yaml, "items:\n");
    for (int i = 0; i < 60; i++)
        buf_add_text(&yaml, "- [1, 2, 3]\n");
    struct seen seen;
    struct err err = {""};
    assert_int_equal(read_all(buf_text(&yaml), 0, &seen, &err), 0);
    buf_fini(&seen.text);
    buf_add_text(&yaml, "- [");
    for (int i = 0; i < 100; i++)
        buf_add_text(&yaml, "1,");
    buf_add_text(&yaml, "]\n");
    assert_int_equal(read_all(buf_text(&yaml), 0, &seen, &err), -EMSGSIZE);
    assert_string_equal(err.text, "62:202: more than 100 values in one object");
    buf_fini(&seen.text);
    buf_fini(&yaml);
    check_refused("status: [[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]\n", -EINVAL, "",
                  "1:28: nested deeper than 20 levels");
}

static char *without(const char *text, const char *part)
{
    char *left = strdup(text);
    for (char *at = left; at && (at = strstr(at, part));)
        memmove(at, at + strlen(part), strlen(at + strlen(part)) + 1);
    return left;
}

/* What stood before is handed over. The rest is passed over, with its anchors and keys of any
 * kind; the next object is read again. */
static void test_a_large_object_is_passed_over(void **state)
{
    (void)state;
    struct buf many;
    struct buf yaml;
    struct seen seen;
    struct err err = {""};
    struct json_stream_handler handler = seen_handler(&seen, 0);
    handler.on_large_item = seen_large_item;
    handler.on_large_envelope = seen_large_envelope;
    buf_init(&many, 10000);
    buf_init(&yaml, 10000);
    for (int i = 0; i < 100; i++)
        buf_add_text(&many, "{},");
    buf_printf(&yaml,
               "items:\n- {a: 1}\n- {b: {c: 2, d: [%s &x [&y 1, *y]], ? [f] : *y, g: 3}, h: 4}\n"
               "- {a: 5}\nb: 6\n---\na: {b: 7}\nc: [%s]\nd: 8\n---\na: 9\n",
               buf_text(&many), buf_text(&many));
    if (each(buf_text(&yaml), yaml.len, &handler, &err) < 0)
        fail_msg("%s", err.text);
    char *read = without(buf_text(&seen.text), ",{}");
    assert_string_equal(read, "item 2:3 {\"a\":1}\n"
                              "large item {\"b\":{\"c\":2,\"d\":[{}]}}\n"
                              "item 4:3 {\"a\":5}\n"
                              "envelope 1:1 {\"b\":6}\n"
                              "large envelope {\"a\":{\"b\":7},\"c\":[{}]}\n"
                              "envelope 11:1 {\"a\":9}\n");
    free(read);
    buf_fini(&seen.text);
    buf_fini(&yaml);
    buf_fini(&many);
}

/* Each item is small, but all expanded aliases together are a lot of work. */
static void test_aliases_are_counted_over_all_items(void **state)
{
    (void)state;
    struct buf yaml;
    buf_init(&yaml, 100000);
    buf_add_text(&yaml, "x: &x [1, 2, 3, 4, 5, 6, 7, 8, 9]\nitems:\n");
    for (int i = 0; i < 11; i++)
        buf_add_text(&yaml, "- *x\n");
    struct seen seen;
    struct err err = {""};
    assert_int_equal(read_all(buf_text(&yaml), 0, &seen, &err), -EMSGSIZE);
    assert_string_equal(err.text, "13:3: the aliases expand to more than 100 values");
    buf_fini(&seen.text);
    buf_fini(&yaml);
}

/* The parser looks at each open list and mapping of flow style for each of its tokens, so such a
 * document is not read to its end, to go on after it. */
static void test_nothing_is_read_after_a_document_that_is_far_too_deep(void **state)
{
    (void)state;
    struct buf yaml;
    buf_init(&yaml, 100000);
    buf_add_text(&yaml, "a:\n");
    for (int i = 0; i < 300; i++)
        buf_add_text(&yaml, " [\n");
    for (int i = 0; i < 300; i++)
        buf_add_text(&yaml, " ]\n");
    buf_add_text(&yaml, "---\nb: 1\n");
    struct seen seen;
    struct err err = {""};
    struct json_stream_handler handler = seen_handler(&seen, 0);
    handler.on_fault = go_on;
    assert_int_equal(each(buf_text(&yaml), yaml.len, &handler, &err), -EMSGSIZE);
    assert_non_null(strstr(err.text, "nested deeper than 100 levels"));
    assert_string_equal(buf_text(&seen.text), "");
    buf_fini(&seen.text);
    buf_fini(&yaml);
}

/* Inputs that would take quadratic time. */
static void test_directives_and_anchors_are_limited(void **state)
{
    (void)state;
    struct buf yaml;
    buf_init(&yaml, 1000000);
    for (int i = 0; i < 1001; i++)
        buf_add_text(&yaml, "%TAG !e! x:\n");
    check_refused(buf_text(&yaml), -EMSGSIZE, "", "1001:1: more than 1000 %TAG directives");
    buf_clear(&yaml);
    buf_add_text(&yaml, "items:\n");
    for (int i = 0; i < 10001; i++)
        buf_add_text(&yaml, "- &a x\n");
    const struct json_stream_handler nobody = {0};
    struct err err = {""};
    assert_int_equal(each(buf_text(&yaml), yaml.len, &nobody, &err), -EMSGSIZE);
    assert_string_equal(err.text, "10002:3: more than 10000 anchors");
    buf_fini(&yaml);
}

static void test_an_error_of_the_handler_ends_the_reading(void **state)
{
    (void)state;
    struct seen seen;
    struct err err = {""};
    assert_int_equal(read_all("items: [1, 2]\n", -ENOSPC, &seen, &err), -ENOSPC);
    assert_string_equal(err.text, "enough");
    buf_fini(&seen.text);
}

static void test_either_handler_may_be_missing(void **state)
{
    (void)state;
    const struct json_stream_handler nobody = {0};
    static const char TEXT[] = "items: [1, {a: &x 2}]\nb: *x\n";
    struct err err = {""};
    assert_int_equal(each(TEXT, sizeof TEXT - 1, &nobody, &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_documents_come_in_order_and_empty_ones_do_not),
        cmocka_unit_test(test_items_come_one_at_a_time_before_their_envelope),
        cmocka_unit_test(test_items_by_alias_or_merge_are_reported),
        cmocka_unit_test(test_dropped_subtrees_are_not_built),
        cmocka_unit_test(test_members_of_a_sequences_elements_are_not_built),
        cmocka_unit_test(test_anchors_in_dropped_subtrees_can_be_used),
        cmocka_unit_test(test_anchors_end_with_their_document),
        cmocka_unit_test(test_duplicate_keys_are_found_in_dropped_subtrees),
        cmocka_unit_test(test_limits_are_those_of_one_object),
        cmocka_unit_test(test_a_large_object_is_passed_over),
        cmocka_unit_test(test_aliases_are_counted_over_all_items),
        cmocka_unit_test(test_nothing_is_read_after_a_document_that_is_far_too_deep),
        cmocka_unit_test(test_directives_and_anchors_are_limited),
        cmocka_unit_test(test_an_error_of_the_handler_ends_the_reading),
        cmocka_unit_test(test_either_handler_may_be_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
