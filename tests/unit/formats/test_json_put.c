/* json_put: trees with packed values become the texts of the trees without. */
#include "formats/json_values.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static const char TREE[] =
    "{\"a \\\"b\\\\\": [1, {}, [], \"x\\ny\", null], \"none\": {}, \"list\": [{\"n\": 1, "
    "\"nodes\": "
    "[{\"node\": \"\u00e9\", \"lacks\": {}}, {\"node\": \"two\", \"lacks\": {\"cpu\": 2.5}}]}, "
    "{\"n\": true, \"nodes\": []}], \"last\": false}";

static json_t *tree_new(void)
{
    json_t *tree = json_loads(TREE, 0, NULL);
    assert_non_null(tree);
    return tree;
}

/* The two lists of nodes. */
static void pack(json_t *tree)
{
    size_t i = 0;
    json_t *item = NULL;
    json_array_foreach (json_object_get(tree, "list"), i, item) {
        json_t *nodes = json_incref(json_object_get(item, "nodes"));
        (void)json_object_set_new(item, "nodes", json_packed(nodes));
    }
}

static void check_text(json_t *tree, size_t flags, const char *wanted)
{
    size_t len = 0;
    char *text = json_take_text(tree, flags, &len);
    assert_string_equal(text, wanted);
    assert_int_equal(len, strlen(text));
    free(text);
}

static void test_texts_are_those_of_jansson(void **state)
{
    (void)state;
    static const size_t FLAGS[] = {JSON_COMPACT, JSON_INDENT(1), JSON_INDENT(3)};
    for (size_t i = 0; i < sizeof FLAGS / sizeof *FLAGS; i++) {
        json_t *packed = tree_new();
        json_t *plain = tree_new();
        char *wanted = json_dumps(plain, FLAGS[i]);
        pack(packed);
        check_text(packed, FLAGS[i], wanted);
        check_text(plain, FLAGS[i], wanted);
        free(wanted);
    }
    check_text(json_string("a"), JSON_COMPACT, "\"a\"");
    check_text(json_packed(json_pack("[i]", 1)), JSON_INDENT(1), "[\n 1\n]");
}

static void test_unpacked_is_the_same_value(void **state)
{
    (void)state;
    json_t *value = tree_new();
    json_t *packed = json_packed(json_incref(value));
    json_t *whole = json_unpacked(packed);
    json_t *same = json_unpacked(value);
    assert_true(json_equal(whole, value));
    assert_ptr_equal(same, value);
    json_decref(same);
    json_decref(whole);
    json_decref(packed);
    json_decref(value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts_are_those_of_jansson),
        cmocka_unit_test(test_unpacked_is_the_same_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
