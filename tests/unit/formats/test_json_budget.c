/* json_parse: budgets of values and memory; the memory that is counted is enough. */
#include "formats/json_parse.h"
#include "formats/json_stream.h"
#include "unit.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

static size_t held;
static size_t most_held;

/* With the header of glibc's malloc. */
static void *counted_malloc(size_t size)
{
    void *memory = malloc(size);
    held += malloc_usable_size(memory) + sizeof(size_t);
    most_held = held > most_held ? held : most_held;
    return memory;
}

static void counted_free(void *memory)
{
    if (memory)
        held -= malloc_usable_size(memory) + sizeof(size_t);
    free(memory);
}

static int parse(const char *text, size_t max_values, size_t max_bytes, struct err *err)
{
    const struct json_budget budget = {.max_values = max_values,
                                       .max_tree_bytes = max_bytes,
                                       .max_depth = 5,
                                       .values_key = "limits.values"};
    json_t *value = NULL;
    int r = json_parse(text, strlen(text), JSON_DECODE_ANY, &budget, &value, err);
    json_decref(value);
    return r;
}

static void test_values_are_counted_at_all_levels_and_keys_are_not(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t n;
    } ROWS[] = {
        {"{}", 1},
        {"7", 1},
        {"[[], {}, \"[,]\", null, 1e3]", 6},
        {"{\"a\":{\"b\":[1,2]},\"a\":true}", 6},
        {"{\"\\u0072equests\":\"\\\"{}\"}", 2},
        {" [ 1 , [ [ [ [ ] ] ] ] ] ", 6},
    };
    struct err err;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        char says[100];
        assert_int_equal(parse(ROWS[i].text, ROWS[i].n, SIZE_MAX, &err), 0);
        assert_int_equal(parse(ROWS[i].text, ROWS[i].n - 1, SIZE_MAX, &err), -EMSGSIZE);
        (void)snprintf(says, sizeof says, "has %zu values, should have at most %zu (limits.values)",
                       ROWS[i].n, ROWS[i].n - 1);
        assert_string_equal(err.text, says);
    }
    assert_int_equal(parse("[[[[[[1]]]]]]", 100, SIZE_MAX, &err), -EINVAL);
    assert_int_equal(parse("[1,1,1", 2, SIZE_MAX, &err), -EINVAL);
    assert_int_equal(parse("{}", 1, 100, &err), -EMSGSIZE);
}

/* n copies of the item in a list. */
static char *list_of(const char *item, size_t n)
{
    const size_t len = strlen(item) + 1;
    char *text = malloc(n * len + 2);
    text[0] = '[';
    for (size_t i = 0; i < n; i++) {
        memcpy(text + 1 + i * len, item, len - 1);
        text[1 + i * len + len - 1] = i + 1 < n ? ',' : ']';
    }
    text[1 + n * len] = '\0';
    return text;
}

/* The smallest budget of memory that admits the text. */
static size_t bytes_counted(const char *text)
{
    size_t fits = (size_t)1 << 23;
    assert_int_equal(parse(text, SIZE_MAX, fits, NULL), 0);
    for (size_t step = fits; step > 0; step /= 2) {
        if (fits > step && parse(text, SIZE_MAX, fits - step, NULL) == 0)
            fits -= step;
    }
    return fits;
}

/* The parser itself takes a little, however short the text. */
static void check_memory(const char *item, size_t n)
{
    char *text = list_of(item, n);
    const size_t fits = bytes_counted(text);
    json_set_alloc_funcs(counted_malloc, counted_free);
    held = most_held = 0;
    assert_int_equal(parse(text, SIZE_MAX, SIZE_MAX, NULL), 0);
    json_set_alloc_funcs(malloc, free);
    if (most_held > fits + 1024)
        fail_msg("%zu times %s: %zu bytes, counted %zu", n, item, most_held, fits);
    free(text);
}

static void test_a_tree_takes_no_more_than_is_counted(void **state)
{
    (void)state;
    static const char *const ITEMS[] = {
        "{}",
        "[]",
        "\"\"",
        "0",
        "null",
        "1.5",
        "\"abcdefghijklmnopqrstuvwxyz\"",
        "[[]]",
        "[1]",
        "{\"a\":1}",
        "{\"a\":{},\"b\":\"\",\"cdefghijklmnop\":[]}",
        "\"\\u00e9\\ud834\\udd1e\"",
        "{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"i\":1}",
        "[1,2,3,4,5,6,7,8,9]",
    };
    for (size_t i = 0; i < sizeof ITEMS / sizeof *ITEMS; i++) {
        for (size_t n = 10; n < 5000; n = n * 3 + 7)
            check_memory(ITEMS[i], n);
    }
}

static int see(void *context, json_t *value, struct text_position at, struct err *err)
{
    (void)value;
    (void)at;
    (void)err;
    ++*(int *)context;
    return 0;
}

static int feed(const char *text, const struct json_stream_options *options, int *ret_seen,
                struct err *err)
{
    *ret_seen = 0;
    const struct json_stream_handler handler = {
        .on_item = see, .on_envelope = see, .context = ret_seen};
    struct json_stream *stream = json_stream_new(options, &handler);
    int r = json_stream_feed(stream, text, strlen(text), err);
    json_stream_free(stream);
    return r;
}

static void test_dropped_members_and_other_items_do_not_count(void **state)
{
    (void)state;
    static const char *const DROP[] = {"status", "spec.list[].env", NULL};
    const struct json_budget four = {.max_values = 4, .max_tree_bytes = SIZE_MAX, .max_depth = 9};
    const struct json_stream_options options = {
        .drop = DROP, .object_budget = &four, .max_object_bytes = 1000, .max_depth = 9};
    struct err err;
    int seen = 0;
    assert_int_equal(feed("{\"items\":[{\"a\":1,\"b\":[2]},{\"status\":[1,2,3,4,5],\"a\":[1]},"
                          "{\"spec\":{\"list\":[{\"env\":[1,2,3,4]}]}}],\"a\":[1]}",
                          &options, &seen, &err),
                     0);
    assert_int_equal(seen, 4);
    assert_int_equal(feed("{\"a\":1}\n{\"a\":[1,2,3]}", &options, &seen, &err), -EMSGSIZE);
    assert_string_equal(err.text,
                        "2:1: the object that begins here has 5 values, should have at most 4");
    assert_int_equal(seen, 1);
}

static void test_a_text_has_a_budget_that_texts_may_share(void **state)
{
    (void)state;
    const struct json_budget ten = {.max_values = 10, .max_tree_bytes = SIZE_MAX, .max_depth = 9};
    struct json_cost spent = {0};
    const struct json_stream_options options = {
        .budget = &ten, .spent = &spent, .max_object_bytes = 1000, .max_depth = 9};
    struct err err;
    int seen = 0;
    assert_int_equal(feed("{\"a\":[1,2]}{}", &options, &seen, &err), 0);
    assert_int_equal(spent.n_values, 5);
    assert_int_equal(feed("{\"a\":[1,2]}{}", &options, &seen, &err), 0);
    assert_int_equal(feed("{}", &options, &seen, &err), -EMSGSIZE);
    assert_string_equal(err.text, "the text has 11 values, should have at most 10");
}

/* What follows is not read: faults in it are not found, and values there do not count. */
static void test_the_beginning_of_a_text_is_read(void **state)
{
    (void)state;
    static const char *const ONLY[] = {"name", "pod.meta.name", "pod.meta.uid", NULL};
    static const struct {
        const char *text, *read;
    } ROWS[] = {
        {"{\"pod\":{\"meta\":{\"a\":[1],\"uid\":\"u\"},nonsense",
         "{\"pod\":{\"meta\":{\"uid\":\"u\"}}}"},
        {"{\"pod\":{\"x\":[{},{}],\"meta\":{\"name\":\"p\"}}}",
         "{\"pod\":{\"meta\":{\"name\":\"p\"}}}"},
        {"{\"name\":\"n\",\"pod\":{}}", "{\"name\":\"n\",\"pod\":{}}"},
        {"{\"x\":1,\"name\":\"n\"}", "{\"name\":\"n\"}"},
        {"{\"pod\":{\"x\":{}}", "{\"pod\":{}}"},
        {"{\"pod\":{\"meta\":[]", NULL},
        {"[]", NULL},
    };
    const struct json_stream_options options = {
        .only = ONLY, .ends_early = true, .max_object_bytes = 1000, .max_depth = 9};
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        json_t *value = NULL;
        const int r = json_stream_read(ROWS[i].text, strlen(ROWS[i].text), &options, &value, NULL);
        char *read = r == 0 ? json_dumps(value, JSON_COMPACT) : NULL;
        assert_int_equal(r == 0, ROWS[i].read != NULL);
        if (read)
            assert_string_equal(read, ROWS[i].read);
        free(read);
        json_decref(value);
    }
}

static void test_a_path_leads_through_any_key(void **state)
{
    (void)state;
    static const char *const ONLY[] = {"by.*.n", "by.*.pods[].uid", NULL};
    static const char TEXT[] =
        "{\"x\":{\"n\":1},\"by\":{\"a.b\":{\"n\":2,\"pods\":[{\"uid\":\"u\",\"x\":[{}]"
        "}]},\"*\":{\"pods\":3},\"c\":4}}";
    const struct json_stream_options options = {
        .only = ONLY, .max_object_bytes = 1000, .max_depth = 9};
    json_t *value = NULL;
    assert_int_equal(json_stream_read(TEXT, strlen(TEXT), &options, &value, NULL), 0);
    char *read = json_dumps(value, JSON_COMPACT);
    assert_string_equal(read,
                        "{\"by\":{\"a.b\":{\"n\":2,\"pods\":[{\"uid\":\"u\"}]},\"*\":{\"pods\":3},"
                        "\"c\":4}}");
    free(read);
    json_decref(value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_are_counted_at_all_levels_and_keys_are_not),
        cmocka_unit_test(test_a_tree_takes_no_more_than_is_counted),
        cmocka_unit_test(test_dropped_members_and_other_items_do_not_count),
        cmocka_unit_test(test_a_text_has_a_budget_that_texts_may_share),
        cmocka_unit_test(test_the_beginning_of_a_text_is_read),
        cmocka_unit_test(test_a_path_leads_through_any_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
