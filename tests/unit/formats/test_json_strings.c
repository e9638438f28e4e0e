/* json_strings: lists that the fast path takes, and those left to jansson. */
#include "formats/json_strings.h"
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct json_strings_keys KEYS = {.list = "Names", .aside = "Aside"};
static const char ALPHABET[] = "abcdefghijklmnopqrstuvwxyz0123456789-.ABCDEFG";

/* json_strings_take() of a copy of exactly that length, which stays as it is if it is not taken. */
static bool take(const char *text, size_t len, struct arena *arena, struct json_strings *strings)
{
    char *copy = arena_copy(arena, text, len, 1);
    const bool is_taken = json_strings_take(copy, len, &KEYS, arena, strings);
    if (!is_taken && len > 0)
        assert_memory_equal(copy, text, len);
    return is_taken;
}

static void check_taken(const char *text, size_t n, const char *const *items, const char *rest)
{
    struct arena *arena = arena_new();
    struct json_strings strings;
    assert_true(take(text, strlen(text), arena, &strings));
    assert_int_equal(strings.n, n);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(strings.items[i].text, items[i]);
        assert_int_equal(strings.items[i].len, strlen(items[i]));
        assert_int_equal(strings.items[i].hash, hash_name(items[i], strlen(items[i])));
    }
    assert_non_null(strings.items);
    assert_int_equal(strings.rest_len, strlen(rest));
    assert_memory_equal(strings.rest, rest, strlen(rest));
    arena_free(arena);
}

static void check_left(const char *text)
{
    struct arena *arena = arena_new();
    struct json_strings strings;
    if (take(text, strlen(text), arena, &strings))
        fail_msg("%s", text);
    arena_free(arena);
}

static void test_simple_lists_are_taken(void **state)
{
    (void)state;
    static const char *const ITEMS[] = {"a", "", "é,]\xf0\x9d\x84\x9e"};
    check_taken("{\"Names\":[\"a\",\"\",\"é,]\xf0\x9d\x84\x9e\"]}", 3, ITEMS, "{\"Names\":[]}");
    check_taken(" { \"a\" : 1 , \"Names\"\n: [ \"a\"\t, \"\" ] , \"b\":[\"c\"]}\n", 2, ITEMS,
                " { \"a\" : 1 , \"Names\"\n: [] , \"b\":[\"c\"]}\n");
    check_taken("{\"Names\":[ ]}", 0, NULL, "{\"Names\":[]}");
}

static void test_only_the_top_level_counts(void **state)
{
    (void)state;
    static const char *const ITEMS[] = {"b"};
    check_taken("{\"x\":{\"Names\":[\"a\"]},\"y\":[[\"z\"]],\"Names\":[\"b\"]}", 1, ITEMS,
                "{\"x\":{\"Names\":[\"a\"]},\"y\":[[\"z\"]],\"Names\":[]}");
    check_left("{\"x\":{\"Names\":[\"a\"]}}");
    check_left("[{\"Names\":[\"a\"]}]");
    check_left("{\"x\":\"Names\",\"y\":[\"a\"]}");
    check_left("{\"x\":{\"Aside\":1}}");
}

static void test_complex_lists_are_left_to_the_full_parser(void **state)
{
    (void)state;
    check_left("{\"Names\":[\"a\\n\"]}");
    check_left("{\"Names\":[\"a\",\"\\u0000\"]}");
    check_left("{\"Names\":[\"a\",5]}");
    check_left("{\"Names\":[[\"a\"]]}");
    check_left("{\"Names\":[null]}");
    check_left("{\"Names\":null}");
    check_left("{\"Names\":\"a\"}");
    check_left("{\"Names\":[\"a\"],\"Names\":[\"b\"]}");
    check_left("{\"Names\":[\"a\"],\"Names\":null}");
    check_left("{\"Names\":null,\"Names\":[\"a\"]}");
    check_left("{\"Aside\":1,\"Names\":[],\"Aside\":2}");
    check_left("{\"Names\":[\"a\"],\"N\\u0061mes\":[\"b\"]}");
}

static void test_invalid_json_is_left_to_the_full_parser(void **state)
{
    (void)state;
    static const char TEXT[] = "{\"Names\":[\"a\",\"b\"],\"c\":1}";
    struct json_strings strings;
    for (size_t len = 0; len < strlen(TEXT); len++) {
        struct arena *arena = arena_new();
        assert_false(take(TEXT, len, arena, &strings));
        arena_free(arena);
    }
    check_left("{\"Names\":[\"a\"]} x");
    check_left("{\"Names\":[\"a\" \"b\"]}");
    check_left("{\"Names\":[\"a\",]}");
    check_left("{\"Names\":[\"\xff\"]}");
    check_left("{\"Names\":[\"a\nb\"]}");
    check_left("{\"Names\":[\"a\"],\"b\":tru}");
}

/* aside: the text of the value, which has n_values; rest: without it. n: -1: without the list. */
static void check_aside(const char *text, int n, const char *aside, size_t n_values,
                        const char *rest)
{
    struct arena *arena = arena_new();
    struct json_strings strings;
    assert_true(take(text, strlen(text), arena, &strings));
    assert_int_equal(strings.items ? (int)strings.n : -1, n);
    assert_int_equal(strings.aside_len, strlen(aside));
    assert_memory_equal(strings.aside, aside, strlen(aside));
    assert_int_equal(strings.n_aside_values, n_values);
    assert_int_equal(strings.rest_len, strlen(rest));
    assert_memory_equal(strings.rest, rest, strlen(rest));
    arena_free(arena);
}

static void test_a_member_is_set_aside(void **state)
{
    (void)state;
    check_aside("{\"Aside\":{\"a\":[1,{}]},\"Names\":[\"x\"]}", 1, "{\"a\":[1,{}]}", 4,
                "{\"Aside\":null,\"Names\":[]}");
    check_aside("{\"Names\":[\"x\"],\"Aside\":17,\"b\":2}", 1, "17", 1,
                "{\"Names\":[],\"Aside\":null,\"b\":2}");
    check_aside("{\"Aside\":[[]],\"b\":[2]}", -1, "[[]]", 2, "{\"Aside\":null,\"b\":[2]}");
    check_aside("{\"Names\":null,\"Aside\":\"\"}", -1, "\"\"", 1,
                "{\"Names\":null,\"Aside\":null}");
}

static void test_what_is_set_aside_has_a_budget(void **state)
{
    (void)state;
    static const char TEXT[] = "{\"Aside\":[1,\"a\\u0000\",2e999]}";
    struct json_budget budget = {.max_values = 3, .values_key = "limits.objectValues"};
    struct arena *arena = arena_new();
    struct json_strings strings;
    struct err err;
    json_t *value = NULL;
    assert_true(take(TEXT, strlen(TEXT), arena, &strings));
    assert_int_equal(json_strings_read_aside(&strings, &budget, &value, &err), -EMSGSIZE);
    assert_string_equal(err.text, "has 4 values, should have at most 3 (limits.objectValues)");
    budget.max_values = 4;
    assert_int_equal(json_strings_read_aside(&strings, &budget, &value, &err), -EINVAL);
    assert_string_equal(err.text, "1:18: real number overflow near '2e999'");
    arena_free(arena);
}

/* Of every length, with each character that is not plain at every place. */
static void test_items_are_hashed_as_they_are_scanned(void **state)
{
    (void)state;
    static const char *const ODD[] = {"x", "\x7f", "é", "\xf0\x9d\x84\x9e"};
    char item[100];
    char text[300];
    for (size_t len = 0; len < 40; len++) {
        for (size_t at = 0; at <= len; at++) {
            for (size_t i = 0; i < sizeof ODD / sizeof *ODD; i++) {
                (void)snprintf(item, sizeof item, "%.*s%s%.*s", (int)at, ALPHABET, ODD[i],
                               (int)(len - at), ALPHABET);
                (void)snprintf(text, sizeof text, "{\"Names\":[\"%s\",\"%s\",\"\",\"%s\"]}", item,
                               item, item);
                check_taken(text, 4, (const char *[]){item, item, "", item}, "{\"Names\":[]}");
            }
        }
    }
}

/* The first item is shorter or longer than the others, which the initial capacity assumes. */
static void test_items_of_other_lengths_than_the_first(void **state)
{
    (void)state;
    char text[4000] = "{\"Names\":[\"0123456789012345678901234567890123456789\"";
    size_t len = strlen(text);
    for (size_t i = 1; i < 1000; i++)
        len += (size_t)snprintf(&text[len], sizeof text - len, ",\"\"");
    (void)snprintf(&text[len], sizeof text - len, "]}");
    struct arena *arena = arena_new();
    struct json_strings strings;
    assert_true(take(text, strlen(text), arena, &strings));
    assert_int_equal(strings.n, 1000);
    assert_int_equal(strings.items[0].len, 40);
    assert_int_equal(strings.items[999].len, 0);
    arena_free(arena);
}

static void test_a_long_list(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct json_strings strings;
    char text[100000] = "{\"Names\":[\"n00000\"";
    size_t len = strlen(text);
    for (int i = 1; i < 5000; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, ",\"n%05d\"", i);
    len += (size_t)snprintf(text + len, sizeof text - len, "]}");
    assert_true(take(text, len, arena, &strings));
    assert_int_equal(strings.n, 5000);
    for (int i = 0; i < 5000; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "n%05d", i);
        assert_string_equal(strings.items[i].text, name);
    }
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_simple_lists_are_taken),
        cmocka_unit_test(test_only_the_top_level_counts),
        cmocka_unit_test(test_complex_lists_are_left_to_the_full_parser),
        cmocka_unit_test(test_invalid_json_is_left_to_the_full_parser),
        cmocka_unit_test(test_a_member_is_set_aside),
        cmocka_unit_test(test_what_is_set_aside_has_a_budget),
        cmocka_unit_test(test_items_are_hashed_as_they_are_scanned),
        cmocka_unit_test(test_items_of_other_lengths_than_the_first),
        cmocka_unit_test(test_a_long_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
