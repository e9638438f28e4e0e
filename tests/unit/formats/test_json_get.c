/* json_get: values, unchanged outputs and messages. */
#include "formats/json_parse.h"
#include "formats/json_values.h"
#include "unit.h"

#include <errno.h>
#include <string.h>

static json_t *parsed(const char *text)
{
    json_t *value = NULL;
    struct err err = {""};
    if (json_parse(text, strlen(text), 0, &JSON_OWN, &value, &err) < 0)
        fail_msg("%s", err.text);
    return value;
}

static void test_members_of_the_right_type_are_read(void **state)
{
    (void)state;
    json_t *root = parsed("{\"s\":\"x\",\"b\":true,\"i\":-7,\"o\":{\"k\":1},\"a\":[1,2]}");
    const char *text = NULL;
    bool truth = false;
    int64_t number = 0;
    json_t *object = NULL;
    json_t *array = NULL;
    assert_int_equal(json_get_string(root, "s", &text, NULL), 0);
    assert_int_equal(json_get_bool(root, "b", &truth, NULL), 0);
    assert_int_equal(json_get_integer(root, "i", &number, NULL), 0);
    assert_int_equal(json_get_object(root, "o", &object, NULL), 0);
    assert_int_equal(json_get_array(root, "a", &array, NULL), 0);
    assert_string_equal(text, "x");
    assert_true(truth);
    assert_int_equal(number, -7);
    assert_non_null(json_member(object, "k"));
    assert_int_equal(json_array_size(array), 2);
    json_decref(root);
}

static void test_missing_and_null_leave_the_output_untouched(void **state)
{
    (void)state;
    json_t *root = parsed("{\"n\":null}");
    const char *text = "default";
    int64_t number = 5;
    assert_int_equal(json_get_string(root, "n", &text, NULL), 0);
    assert_int_equal(json_get_string(root, "absent", &text, NULL), 0);
    assert_int_equal(json_get_integer(NULL, "n", &number, NULL), 0);
    assert_string_equal(text, "default");
    assert_int_equal(number, 5);
    assert_null(json_member(root, "n"));
    assert_null(json_member(NULL, "n"));
    json_t *array = parsed("[1]");
    assert_null(json_member(array, "n"));
    json_decref(array);
    json_decref(root);
}

static void test_messages_name_the_value_and_the_expected_type(void **state)
{
    (void)state;
    json_t *root = parsed("{\"i\":3,\"r\":3.0,\"s\":\"a\\\"b\",\"o\":{},\"a\":[],\"t\":true}");
    const char *text = "untouched";
    int64_t number = 1;
    bool truth = false;
    json_t *value = NULL;
    struct err err = {""};
    assert_int_equal(json_get_string(root, "i", &text, &err), -EINVAL);
    assert_string_equal(err.text, "i: is the number 3, should be a string");
    assert_int_equal(json_get_integer(root, "r", &number, &err), -EINVAL);
    assert_string_equal(err.text, "r: is the number 3.0, should be a whole number");
    assert_int_equal(json_get_bool(root, "s", &truth, &err), -EINVAL);
    assert_string_equal(err.text, "s: is the string \"a\\\"b\", should be true or false");
    assert_int_equal(json_get_array(root, "o", &value, &err), -EINVAL);
    assert_string_equal(err.text, "o: is an object, should be an array");
    assert_int_equal(json_get_object(root, "a", &value, &err), -EINVAL);
    assert_string_equal(err.text, "a: is an array, should be an object");
    assert_int_equal(json_get_object(root, "t", &value, &err), -EINVAL);
    assert_string_equal(err.text, "t: is true, should be an object");
    assert_string_equal(text, "untouched");
    assert_int_equal(number, 1);
    assert_null(value);
    json_decref(root);
}

static void test_long_strings_are_cut_between_characters(void **state)
{
    (void)state;
    char shown[61] = {0};
    memset(shown, 'x', 59);
    json_t *root = json_pack("{s:s+}", "k", shown, "\u00e9\u00e9");
    bool truth = false;
    struct err err = {""};
    assert_int_equal(json_get_bool(root, "k", &truth, &err), -EINVAL);
    assert_non_null(strstr(err.text, "x\"..., should be"));
    json_decref(root);
}

static void test_parse_errors_have_line_and_byte_column(void **state)
{
    (void)state;
    json_t *value = NULL;
    struct err err = {""};
    const char text[] = "{\n  \"\u00e9\": tru }";
    assert_int_equal(json_parse(text, sizeof text - 1, 0, &JSON_OWN, &value, &err), -EINVAL);
    assert_string_equal(err.text, "2:12: found ' ', should be true");
    assert_int_equal(json_parse("", 0, 0, &JSON_OWN, &value, &err), -EINVAL);
    assert_string_equal(err.text, "1:1: the text ends here, should be a value");
    assert_int_equal(json_parse("{} x", 4, 0, &JSON_OWN, &value, &err), -EINVAL);
    assert_string_equal(err.text, "1:4: found 'x', should be the end of the text");
    assert_null(value);
}

/* Faults that only jansson finds have its text and position. */
static void test_semantic_faults_are_reported(void **state)
{
    (void)state;
    json_t *value = NULL;
    struct err err = {""};
    const char big[] = "{\"a\":\n 99999999999999999999}";
    assert_int_equal(json_parse(big, sizeof big - 1, 0, &JSON_OWN, &value, &err), -EINVAL);
    assert_string_equal(err.text, "2:21: too big integer near '99999999999999999999'");
    const char twice[] = "{\"a\":1,\"a\":2}";
    assert_int_equal(
        json_parse(twice, sizeof twice - 1, JSON_REJECT_DUPLICATES, &JSON_OWN, &value, &err),
        -EINVAL);
    assert_string_equal(err.text, "1:10: duplicate object key near '\"a\"'");
    const char no_container[] = "5";
    assert_int_equal(json_parse(no_container, 1, 0, &JSON_OWN, &value, &err), -EINVAL);
    assert_string_equal(err.text, "1:1: '[' or '{' expected near '5'");
    assert_null(value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members_of_the_right_type_are_read),
        cmocka_unit_test(test_missing_and_null_leave_the_output_untouched),
        cmocka_unit_test(test_messages_name_the_value_and_the_expected_type),
        cmocka_unit_test(test_long_strings_are_cut_between_characters),
        cmocka_unit_test(test_parse_errors_have_line_and_byte_column),
        cmocka_unit_test(test_semantic_faults_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
