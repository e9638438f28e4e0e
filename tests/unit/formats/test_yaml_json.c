/* yaml_json: values, errors and positions of YAML (yaml_read). */
#include "formats/yaml_json.h"
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct yaml_options OPTIONS = {.max_depth = 20, .max_values = 1000};

/* 100 bytes. */
#define TEXT_20 "abcdefghijklmnopqrst"
#define TEXT_100 TEXT_20 TEXT_20 TEXT_20 TEXT_20 TEXT_20

struct row {
    const char *yaml;
    const char *expected; /* JSON, or the whole error */
};

static void check_value(const struct row *row)
{
    struct err err = {""};
    json_t *root = NULL;
    struct yaml_places *places = NULL;
    if (yaml_read(row->yaml, strlen(row->yaml), &OPTIONS, &root, &places, &err) < 0)
        fail_msg("%s\n%s", row->yaml, err.text);
    char *json = root ? json_dumps(root, JSON_COMPACT | JSON_ENCODE_ANY) : strdup("nothing");
    if (strcmp(json, row->expected) != 0)
        fail_msg("%s\nis     %s\nshould %s", row->yaml, json, row->expected);
    free(json);
    json_decref(root);
    yaml_places_free(places);
}

static void check_error(const struct row *row, int expected_code)
{
    struct err err = {""};
    json_t *root = NULL;
    struct yaml_places *places = NULL;
    int r = yaml_read(row->yaml, strlen(row->yaml), &OPTIONS, &root, &places, &err);
    assert_null(root);
    assert_null(places);
    if (r != expected_code || strcmp(err.text, row->expected) != 0)
        fail_msg("%s\nis     %d %s\nshould %d %s", row->yaml, r, err.text, expected_code,
                 row->expected);
}

static void test_plain_scalars_are_read_as_by_kubectl(void **state)
{
    (void)state;
    static const struct row ROWS[] = {
        {"[y, Y, yes, Yes, YES, on, On, ON, true, True, TRUE]",
         "[true,true,true,true,true,true,true,true,true,true,true]"},
        {"[n, N, no, No, NO, off, Off, OFF, false, False, FALSE]",
         "[false,false,false,false,false,false,false,false,false,false,false]"},
        {"[yEs, oN, tRUE, nO, oFF, nuLL, yess]",
         "[\"yEs\",\"oN\",\"tRUE\",\"nO\",\"oFF\",\"nuLL\",\"yess\"]"},
        {"{a: , b: ~, c: null, d: Null, e: NULL}",
         "{\"a\":null,\"b\":null,\"c\":null,\"d\":null,\"e\":null}"},
        {"[0, -0, +5, 12, -12, 1_000, 0x1F, -0X1f, 0b101, -0b11, 0o17, 017, 0_17]",
         "[0,0,5,12,-12,1000,31,-31,5,-3,15,15,15]"},
        {"[08, 099]", "[8,99]"},
        {"[9223372036854775807, -9223372036854775808]",
         "[9223372036854775807,-9223372036854775808]"},
        {"[9223372036854775808, -9223372036854775809, 18446744073709551616]",
         "[9.2233720368547758e18,-9.2233720368547758e18,1.8446744073709552e19]"},
        {"[1.5, 1e3, 1E3, .5, -1.0, 1., 0x, 0b2, 0o8, 1:30, +, _1]",
         "[1.5,1000,1000,0.5,-1,1,\"0x\",\"0b2\",\"0o8\",\"1:30\",\"+\",\"_1\"]"},
        {"[.inf_, 2001-01-01, 2001-12-14T21:59:43.10-05:00]",
         "[\".inf_\",\"2001-01-01\",\"2001-12-14T21:59:43.10-05:00\"]"},
        {"[500m, 128Mi, 4k, 1.5Gi]", "[\"500m\",\"128Mi\",\"4k\",\"1.5Gi\"]"},
        {"['1', \"true\", '', \"~\"]", "[\"1\",\"true\",\"\",\"~\"]"},
        {"a: |\n  1\n", "{\"a\":\"1\\n\"}"},
        {"a: >-\n  x\n  y\n", "{\"a\":\"x y\"}"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++)
        check_value(&ROWS[i]);
}

static void test_keys_become_text(void **state)
{
    (void)state;
    static const struct row ROWS[] = {
        {"{yes: 1, 0x10: 2, '3': 4, 1.50: 5}", "{\"true\":1,\"16\":2,\"3\":4,\"1.5\":5}"},
        {"a: &k x\n*k : 1", "{\"a\":\"x\",\"x\":1}"},
        {"\"a\\tb\": 1", "{\"a\\tb\":1}"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++)
        check_value(&ROWS[i]);
    static const struct row ERRORS[] = {
        {"a: 1\n~: 2", "2:1: a key is null, a list or a mapping, should be text"},
        {"? [a]\n: 2", "1:3: a key is null, a list or a mapping, should be text"},
        {"a: &k [1]\n*k : 2", "2:1: a key is null, a list or a mapping, should be text"},
    };
    for (size_t i = 0; i < sizeof ERRORS / sizeof ERRORS[0]; i++)
        check_error(&ERRORS[i], -EINVAL);
}

static void test_tags(void **state)
{
    (void)state;
    static const struct row ROWS[] = {
        {"[!!str 1, !!str yes, ! 1, !!int '7', !!bool \"on\", !!null '', !!float 1.5, !!float 3]",
         "[\"1\",\"yes\",\"1\",7,true,null,1.5,3]"},
        {"!!map {a: !!seq [1]}", "{\"a\":[1]}"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++)
        check_value(&ROWS[i]);
    static const struct row ERRORS[] = {
        {"a: !!int x", "1:4: the tag !!int does not fit this value"},
        {"a: !!bool 1", "1:4: the tag !!bool does not fit this value"},
        {"a: !!null 0", "1:4: the tag !!null does not fit this value"},
        {"a: !!int 9223372036854775808", "1:4: the tag !!int does not fit this value"},
        {"a: !!binary aGk=", "1:4: the tag !!binary is not supported"},
        {"a: .inf", "1:4: .inf is no number in JSON: write it in quotes"},
        {"a: [1, !!float -.Inf]", "1:8: -.Inf is no number in JSON: write it in quotes"},
        {"a: .NaN", "1:4: .NaN is no number in JSON: write it in quotes"},
        {"a: !mine x", "1:4: the tag !mine is not supported"},
        {"a: !!map [1]", "1:4: the tag !!map is not supported"},
        {"a: !!set {x}", "1:4: the tag !!set is not supported"},
    };
    for (size_t i = 0; i < sizeof ERRORS / sizeof ERRORS[0]; i++)
        check_error(&ERRORS[i], -EINVAL);
}

static void test_merges_and_aliases(void **state)
{
    (void)state;
    static const struct row ROWS[] = {
        {"a: &a {x: 1, w: 2}\nb: {<<: *a, w: 3}",
         "{\"a\":{\"x\":1,\"w\":2},\"b\":{\"x\":1,\"w\":3}}"},
        {"a: &a {x: 1}\nb: {x: 2, <<: *a}", "{\"a\":{\"x\":1},\"b\":{\"x\":1}}"},
        {"a: &a {x: 1}\nb: {<<: [*a, {x: 2, z: 3}]}", "{\"a\":{\"x\":1},\"b\":{\"x\":1,\"z\":3}}"},
        {"a: {'<<': 1}", "{\"a\":{\"<<\":1}}"},
        {"a: &a 1\nb: &a 2\nc: *a", "{\"a\":1,\"b\":2,\"c\":2}"},
        {"a: &a [&a 1]\nb: *a", "{\"a\":[1],\"b\":1}"},
        {"a: &a [1, {b: c}]\nd: [*a, *a]",
         "{\"a\":[1,{\"b\":\"c\"}],\"d\":[[1,{\"b\":\"c\"}],[1,{\"b\":\"c\"}]]}"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++)
        check_value(&ROWS[i]);
    static const struct row ERRORS[] = {
        {"a: *nobody", "1:4: no anchor &nobody before this alias"},
        {"a: &a\n  b: [*a]", "2:7: the alias *a cannot be used: its anchor contains this alias"},
        {"a: &a\n  <<: *a", "2:7: the alias *a cannot be used: its anchor contains this alias"},
        {"a:\n  <<: 5", "2:7: << needs a mapping, or a list of mappings"},
        {"a:\n  <<: [{}, 5]", "2:7: << needs a mapping, or a list of mappings"},
    };
    for (size_t i = 0; i < sizeof ERRORS / sizeof ERRORS[0]; i++)
        check_error(&ERRORS[i], -EINVAL);
}

static void test_duplicate_keys_are_refused_with_both_places(void **state)
{
    (void)state;
    static const struct row ERRORS[] = {
        {"a: 1\nb:\n  c: 1\n  d: 2\n  c: 3",
         "5:3: the key \"c\" is here twice; it stands at 3:3 too"},
        {"yes: 1\n'true': 2", "2:1: the key \"true\" is here twice; it stands at 1:1 too"},
        {"{<<: {a: 1}, <<: {b: 1}}", "1:14: the key \"<<\" is here twice; it stands at 1:2 too"},
    };
    for (size_t i = 0; i < sizeof ERRORS / sizeof ERRORS[0]; i++)
        check_error(&ERRORS[i], -EINVAL);
    const struct row again = {"a: {k: 1}\nb: {k: 1}\nk: 1",
                              "{\"a\":{\"k\":1},\"b\":{\"k\":1},\"k\":1}"};
    check_value(&again);
}

static void test_documents(void **state)
{
    (void)state;
    static const struct row ROWS[] = {
        {"", "nothing"},
        {"# only this\n", "nothing"},
        {"---\n# and this\n---\n...\n", "nothing"},
        {"---\n---\na: 1\n---\n", "{\"a\":1}"},
        {"\xef\xbb\xbf"
         "a: 1",
         "{\"a\":1}"},
        {"\"text\"", "\"text\""},
        {"%YAML 1.1\n---\na: 1\n...\n", "{\"a\":1}"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++)
        check_value(&ROWS[i]);
    const struct row two = {"a: 1\n---\nb: 2",
                            "3:1: a second document begins here, should be the only one"};
    check_error(&two, -EINVAL);
}

static void test_faults_of_the_text_have_their_place(void **state)
{
    (void)state;
    static const struct row ERRORS[] = {
        {"a: 1\n\tb: 2", "2:1: found a tab character that violates indentation (while scanning "
                         "a plain scalar that begins at 1:4)"},
        {"a:\n\tb: 2", "2:1: found character that cannot start any token (while scanning for "
                       "the next token that begins at 2:1)"},
        {"a: [1, 2\nb: 3", "2:2: did not find expected ',' or ']' (while parsing a flow sequence "
                           "that begins at 1:4)"},
        {"\xc3\xa9: \"\x01\"", "1:5: control characters are not allowed (0x01)"},
        {"a: 1\n\xc3\xa9: \xff", "2:4: invalid leading UTF-8 octet (0xff)"},
    };
    for (size_t i = 0; i < sizeof ERRORS / sizeof ERRORS[0]; i++)
        check_error(&ERRORS[i], -EINVAL);
    struct err err = {""};
    json_t *root = NULL;
    struct yaml_places *places = NULL;
    assert_int_equal(yaml_read("a: x\0y", 6, &OPTIONS, &root, &places, &err), -EINVAL);
    assert_string_equal(err.text, "1:5: control characters are not allowed (0x00)");
}

static void test_depth_is_limited_also_through_aliases(void **state)
{
    (void)state;
    const struct row deep = {"[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]",
                             "1:21: nested deeper than 20 levels"};
    check_error(&deep, -EINVAL);
    const struct row by_alias = {"- &a [[[[[[[[[1]]]]]]]]]\n- [[[[[[[[[[[*a]]]]]]]]]]]\n",
                                 "2:14: nested deeper than 20 levels"};
    check_error(&by_alias, -EINVAL);
    const struct row by_two = {
        "- &a [[[[[[1]]]]]]\n- &b [[[[[[*a]]]]]]\n- &c [[[[[[*b]]]]]]\n- [[*c]]\n",
        "4:5: nested deeper than 20 levels"};
    check_error(&by_two, -EINVAL);
}

static void test_the_expansion_of_aliases_is_limited(void **state)
{
    (void)state;
    const struct row laughs = {
        "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
        "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
        "e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n",
        "4:8: the aliases expand to more than 1000 values"};
    check_error(&laughs, -EMSGSIZE);
    const char *long_key = "- &a {" TEXT_100 TEXT_100 TEXT_100 TEXT_100 ": 1}\n"
                           "- &b [*a,*a,*a,*a,*a,*a,*a,*a]\n- [*b,*b,*b,*b,*b,*b,*b]\n";
    const struct row long_texts = {long_key,
                                   "3:13: the aliases expand to more than 16000 bytes of text"};
    check_error(&long_texts, -EMSGSIZE);
}

static void assert_place(struct text_position is, size_t line, size_t column)
{
    assert_int_equal(is.line, line);
    assert_int_equal(is.column, column);
}

static void test_places_of_keys_and_values(void **state)
{
    (void)state;
    static const char TEXT[] = "base: &base {port: 80}\n"
                               "listen:\n"
                               "  \xc3\xa9: [a,\n"
                               "       b]\n"
                               "  verbs: true\n"
                               "merged:\n"
                               "  <<: *base\n"
                               "  own: {<<: {inline: 1}}\n";
    struct err err = {""};
    json_t *root = NULL;
    struct yaml_places *places = NULL;
    assert_int_equal(yaml_read(TEXT, sizeof TEXT - 1, &OPTIONS, &root, &places, &err), 0);
    const json_t *listen = json_object_get(root, "listen");
    const json_t *list = json_object_get(listen, "\xc3\xa9");
    const json_t *merged = json_object_get(root, "merged");
    assert_place(yaml_place_of_key(places, root, "listen"), 2, 1);
    assert_place(yaml_place_of_value(places, root, "listen"), 3, 3);
    assert_place(yaml_place_of_value(places, listen, "\xc3\xa9"), 3, 6);
    assert_place(yaml_place_of_key(places, listen, "verbs"), 5, 3);
    assert_place(yaml_place_of_value(places, listen, "verbs"), 5, 10);
    assert_place(yaml_place_of_value(places, list, "1"), 4, 8);
    assert_place(yaml_place_of_value(places, merged, "port"), 1, 20);
    assert_place(yaml_place_of_key(places, json_object_get(merged, "own"), "inline"), 8, 14);
    assert_place(yaml_place_of_key(places, listen, "absent"), 0, 0);
    assert_place(yaml_place_of_key(NULL, listen, "verbs"), 0, 0);
    json_decref(root);
    yaml_places_free(places);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_scalars_are_read_as_by_kubectl),
        cmocka_unit_test(test_keys_become_text),
        cmocka_unit_test(test_tags),
        cmocka_unit_test(test_merges_and_aliases),
        cmocka_unit_test(test_duplicate_keys_are_refused_with_both_places),
        cmocka_unit_test(test_documents),
        cmocka_unit_test(test_faults_of_the_text_have_their_place),
        cmocka_unit_test(test_depth_is_limited_also_through_aliases),
        cmocka_unit_test(test_the_expansion_of_aliases_is_limited),
        cmocka_unit_test(test_places_of_keys_and_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
