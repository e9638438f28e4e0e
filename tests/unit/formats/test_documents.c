/* documents: the choice of the reader, and equal results of both. */
#include "formats/documents.h"
#include "pieces.h"
#include "seen.h"
#include "unit.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

static const char *const DROP[] = {"status", NULL};
static const struct document_options OPTIONS = {.drop = DROP,
                                                .max_depth = 20,
                                                .max_object_bytes = 1000,
                                                .max_values = 100,
                                                .json_flags = JSON_REJECT_DUPLICATES};

static int read_all(const char *text, size_t n, struct seen *seen, struct err *err)
{
    struct json_stream_handler handler = seen_handler(seen, 0);
    struct pieces pieces = {.text = text, .len = strlen(text), .piece = n};
    return documents_each(pieces_read, &pieces, &OPTIONS, &handler, err);
}

static const size_t PIECES[] = {1, 2, 3, 1000};
#define N_PIECES (sizeof PIECES / sizeof PIECES[0])

static void check_seen(const char *text, const char *expected)
{
    for (size_t i = 0; i < N_PIECES; i++) {
        struct seen seen;
        struct err err = {""};
        if (read_all(text, PIECES[i], &seen, &err) < 0)
            fail_msg("%s\n%s", text, err.text);
        assert_string_equal(buf_text(&seen.text), expected);
        buf_fini(&seen.text);
    }
}

static void check_refused(const char *text, const char *expected)
{
    for (size_t i = 0; i < N_PIECES; i++) {
        struct seen seen;
        struct err err = {""};
        assert_int_equal(read_all(text, PIECES[i], &seen, &err), -EINVAL);
        assert_string_equal(err.text, expected);
        buf_fini(&seen.text);
    }
}

static void test_json_and_yaml_give_the_same_objects(void **state)
{
    (void)state;
    check_seen("{\"items\":[{\"a\":\"b\",\"status\":1}],\"kind\":\"List\"}",
               "item 1:11 {\"a\":\"b\"}\nenvelope 1:1 {\"kind\":\"List\"}\n");
    check_seen("items:\n- a: b\n  status: 1\nkind: List\n",
               "item 2:3 {\"a\":\"b\"}\nenvelope 1:1 {\"kind\":\"List\"}\n");
}

static void test_the_first_byte_decides(void **state)
{
    (void)state;
    check_seen("\n \t{}\n{}", "envelope 2:3 {}\nenvelope 3:1 {}\n");
    check_seen("# {\na: 1", "envelope 2:1 {\"a\":1}\n");
    check_seen("---\n{a: 1}\n---\n{\"b\": 2}\n",
               "envelope 2:1 {\"a\":1}\nenvelope 4:1 {\"b\":2}\n");
    check_refused("{a: 1}", "1:2: found 'a', should be a key in double quotes or '}'");
    check_refused("[{}]", "1:1: found '[', should be '{', where an object begins");
    check_refused("{}\n---\n{}", "2:1: found '-', should be '{', where an object begins");
}

static void test_a_byte_order_mark_is_skipped(void **state)
{
    (void)state;
    /* Accepted by the JSON reader only. */
    check_seen("\xef\xbb\xbf {}{}", "envelope 1:2 {}\nenvelope 1:4 {}\n");
    check_seen("\xef\xbb\xbf"
               "a: 1",
               "envelope 1:1 {\"a\":1}\n");
}

static void test_empty_input_is_no_error(void **state)
{
    (void)state;
    check_seen("", "");
    check_seen(" \n", "");
    check_seen("# a comment\n---\n", "");
}

static void test_duplicate_keys_are_rejected(void **state)
{
    (void)state;
    check_refused("{\"a\":1,\"a\":1}",
                  "1:1: in the object that begins here: duplicate object key near '\"a\"'");
    check_refused("a: 1\na: 1\n", "2:1: the key \"a\" is here twice; it stands at 1:1 too");
}

/* Strings end at U+0000, so it is replaced by U+FFFD in values and keys, and cuts none. */
static void test_the_character_nul_is_replaced(void **state)
{
    (void)state;
    const char *seen = "envelope 1:1 {\"a\ufffd\":\"\ufffdb\ufffd\"}\n";
    check_seen("{\"a\\u0000\":\"\\u0000b\\u0000\"}", seen);
    check_seen("\"a\\0\": \"\\0b\\x00\"", seen);
    check_seen("{\"a\":\"\\\\u0000\\\\\\u0000\"}",
               "envelope 1:1 {\"a\":\"\\\\u0000\\\\\ufffd\"}\n");
}

static int on_list(void *context, json_t *so_far, struct text_position at, struct err *err)
{
    (void)err;
    return seen_add(context, "list", so_far, at);
}

static int refuse_list(void *context, json_t *so_far, struct text_position at, struct err *err)
{
    (void)context;
    (void)so_far;
    (void)at;
    return err_set(err, EPERM, "not this list");
}

static void test_a_list_is_reported_with_the_members_before_its_items(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *seen;
    } ROWS[] = {
        {"{\"kind\":\"AList\",\"items\":[{}],\"b\":1}",
         "list 1:1 {\"kind\":\"AList\"}\nitem 1:26 {}\nenvelope 1:1 "
         "{\"kind\":\"AList\",\"b\":1}\n"},
        {"kind: AList\nitems: [{}]\nb: 1\n",
         "list 2:8 {\"kind\":\"AList\"}\nitem 2:9 {}\nenvelope 1:1 {\"kind\":\"AList\",\"b\":1}\n"},
        {"{\"items\":[]}", "list 1:1 {}\nenvelope 1:1 {}\n"},
        {"{\"items\":{}}", "envelope 1:1 {\"items\":{}}\n"},
        {"a: {items: []}", "envelope 1:1 {\"a\":{\"items\":[]}}\n"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        struct seen seen;
        struct err err = {""};
        struct json_stream_handler handler = seen_handler(&seen, 0);
        handler.on_list = on_list;
        size_t len = strlen(ROWS[i].text);
        assert_int_equal(documents_each_text(ROWS[i].text, len, &OPTIONS, &handler, &err), 0);
        assert_string_equal(buf_text(&seen.text), ROWS[i].seen);
        buf_clear(&seen.text);
        handler.on_list = refuse_list;
        int r = documents_each_text(ROWS[i].text, len, &OPTIONS, &handler, &err);
        bool is_list = strncmp(ROWS[i].seen, "list", 4) == 0;
        assert_int_equal(r, is_list ? -EPERM : 0);
        assert_string_equal(err.text, is_list ? "not this list" : "");
        buf_fini(&seen.text);
    }
}

/* Returns a brace *context times, then fails. */
static int read_error(void *context, char *bytes, size_t size, size_t *ret_n, struct err *err)
{
    int *calls_left = context;
    (void)size;
    if ((*calls_left)-- == 0)
        return err_set(err, EIO, "the disk is gone");
    bytes[0] = '{';
    *ret_n = 1;
    return 0;
}

static void test_the_readers_error_ends_it(void **state)
{
    (void)state;
    for (int calls = 0; calls < 2; calls++) {
        int calls_left = calls;
        struct err err = {""};
        const struct json_stream_handler nobody = {0};
        assert_int_equal(documents_each(read_error, &calls_left, &OPTIONS, &nobody, &err), -EIO);
        assert_string_equal(err.text, "the disk is gone");
    }
}

static void test_a_text_in_memory_is_read(void **state)
{
    (void)state;
    struct seen seen;
    struct err err = {""};
    struct json_stream_handler handler = seen_handler(&seen, 0);
    assert_int_equal(documents_each_text("{}x", 2, &OPTIONS, &handler, &err), 0);
    assert_int_equal(documents_each_text("a: 1", 4, &OPTIONS, &handler, &err), 0);
    assert_int_equal(documents_each_text(NULL, 0, &OPTIONS, &handler, &err), 0);
    assert_string_equal(buf_text(&seen.text), "envelope 1:1 {}\nenvelope 1:1 {\"a\":1}\n");
    buf_fini(&seen.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_and_yaml_give_the_same_objects),
        cmocka_unit_test(test_the_first_byte_decides),
        cmocka_unit_test(test_a_byte_order_mark_is_skipped),
        cmocka_unit_test(test_empty_input_is_no_error),
        cmocka_unit_test(test_duplicate_keys_are_rejected),
        cmocka_unit_test(test_the_character_nul_is_replaced),
        cmocka_unit_test(test_a_list_is_reported_with_the_members_before_its_items),
        cmocka_unit_test(test_the_readers_error_ends_it),
        cmocka_unit_test(test_a_text_in_memory_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
