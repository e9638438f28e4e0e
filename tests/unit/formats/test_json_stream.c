/*
 * json_stream: items handed over, members dropped, limits, and the position of the first fault.
 * Each text is fed whole, byte by byte, and split at every byte, with equal results.
 */
#include "formats/json_stream.h"
#include "seen.h"
#include "unit.h"

#include <errno.h>
#include <string.h>

static const char *const DROP[] = {
    "metadata.managedFields", "metadata.annotations.k8s.io/last", "status", "ab.x", "cd.y",
    "spec.list[].env",        "spec.list[].deep.in[].x",          NULL};
static const char *const NAMING[] = {"a", "ab", "metadata", "spec", NULL};
static const struct json_stream_options OPTIONS = {.drop = DROP,
                                                   .keep_least = NAMING,
                                                   .max_object_bytes = 300,
                                                   .max_depth = 12,
                                                   .json_flags = JSON_REJECT_DUPLICATES};

/* Whether objects over the limit are skipped. */
static bool takes_parts;

struct outcome {
    struct seen seen;
    int r;
    struct err err;
};

static int feed_pieces(struct json_stream *stream, const char *text, size_t len, size_t first,
                       size_t step, struct err *err)
{
    int r = json_stream_feed(stream, text, first, err);
    for (size_t at = first; r == 0 && at < len; at += step) {
        /* An exact copy, so that a sanitizer detects reading beyond it. */
        size_t n = step < len - at ? step : len - at;
        char *piece = malloc(n);
        memcpy(piece, text + at, n);
        r = json_stream_feed(stream, piece, n, err);
        free(piece);
    }
    return r < 0 ? r : json_stream_end(stream, err);
}

static void run(struct outcome *out, const char *text, size_t first, size_t step)
{
    struct json_stream_handler handler = seen_handler(&out->seen, 0);
    if (takes_parts) {
        handler.on_large_item = seen_large_item;
        handler.on_large_envelope = seen_large_envelope;
    }
    struct json_stream *stream = json_stream_new(&OPTIONS, &handler);
    out->err.text[0] = '\0';
    out->r = feed_pieces(stream, text, strlen(text), first, step, &out->err);
    json_stream_free(stream);
}

static void check(const char *text, size_t first, size_t step, int r, const char *seen,
                  const char *error)
{
    struct outcome out;
    run(&out, text, first, step);
    if (out.r != r || strcmp(buf_text(&out.seen.text), seen) != 0 ||
        strcmp(out.err.text, error) != 0)
        fail_msg("%s\n(pieces %zu, %zu)\nis     %d %s\n%s\nshould %d %s\n%s", text, first, step,
                 out.r, out.err.text, buf_text(&out.seen.text), r, error, seen);
    buf_fini(&out.seen.text);
}

static void check_cut_anywhere(const char *text, int r, const char *seen, const char *error)
{
    size_t len = strlen(text);
    for (size_t first = 0; first <= len; first++)
        check(text, first, len + 1, r, seen, error);
    check(text, 0, 1, r, seen, error);
}

static void check_seen(const char *text, const char *seen)
{
    check_cut_anywhere(text, 0, seen, "");
}

static void check_fault(const char *text, const char *error)
{
    check_cut_anywhere(text, -EINVAL, "", error);
}

static void test_objects_follow_one_another(void **state)
{
    (void)state;
    check_seen("{\"a\":1}", "envelope 1:1 {\"a\":1}\n");
    check_seen(" {\"a\":[1,{}]}\n{}{\"b\":\"\\u00e9\"}\r\n\n",
               "envelope 1:2 {\"a\":[1,{}]}\nenvelope 2:1 {}\nenvelope 2:3 {\"b\":\"\u00e9\"}\n");
}

static void test_items_come_first_and_the_envelope_without_them(void **state)
{
    (void)state;
    check_seen(
        "{\"kind\": \"List\", \"items\": [ {\"a\": 1},\n {\"b\": 2} ], \"x\": 3}",
        "item 1:29 {\"a\":1}\nitem 2:2 {\"b\":2}\nenvelope 1:1 {\"kind\":\"List\",\"x\":3}\n");
    check_seen("{\"items\":[],\"kind\":\"List\"}{\"items\":[{}]}",
               "envelope 1:1 {\"kind\":\"List\"}\nitem 1:37 {}\nenvelope 1:27 {}\n");
    check_seen("{\"items\":[1,\"x\",[{}],null,-1.5e3,true]}",
               "item 1:11 1\nitem 1:13 \"x\"\nitem 1:17 [{}]\nitem 1:22 null\nitem 1:27 -1500.0\n"
               "item 1:34 true\nenvelope 1:1 {}\n");
}

static void test_only_a_top_level_array_is_a_list(void **state)
{
    (void)state;
    check_seen("{\"items\":{\"items\":[1]}}", "envelope 1:1 {\"items\":{\"items\":[1]}}\n");
    check_seen("{\"spec\":{\"items\":[1]},\"items\":\"x\"}",
               "envelope 1:1 {\"spec\":{\"items\":[1]},\"items\":\"x\"}\n");
    check_seen("{\"items\":[{\"items\":[1]}]}", "item 1:11 {\"items\":[1]}\nenvelope 1:1 {}\n");
    check_seen("{\"\\u0069tems\":[1]}", "item 1:16 1\nenvelope 1:1 {}\n");
}

static void test_dropped_members_read_as_absent(void **state)
{
    (void)state;
    check_seen("{\"status\":{\"a\":[1,{}]}}", "envelope 1:1 {}\n");
    check_seen("{\"a\":1,\"status\":5,\"b\":2}", "envelope 1:1 {\"a\":1,\"b\":2}\n");
    check_seen("{\"status\":5,\"b\":2}", "envelope 1:1 {\"b\":2}\n");
    check_seen("{\"a\":1,\"status\":\"x\"}", "envelope 1:1 {\"a\":1}\n");
    check_seen(
        "{\"items\":[{\"metadata\":{\"managedFields\":[{}],\"name\":\"n\","
        "\"annotations\":{\"k8s.io/last\":\"{}\",\"k8s.io/lasting\":\"z\"}},"
        "\"spec\":{\"status\":1,\"metadata\":{\"managedFields\":1}},\"status\":{}}]}",
        "item 1:11 {\"metadata\":{\"name\":\"n\",\"annotations\":{\"k8s.io/lasting\":\"z\"}},"
        "\"spec\":{\"status\":1,\"metadata\":{\"managedFields\":1}}}\nenvelope 1:1 {}\n");
    check_seen("{\"metadata\":5,\"\\u0073tatus\":1}", "envelope 1:1 {\"metadata\":5}\n");
    check_seen("{\"metadata\":[{\"managedFields\":1}]}",
               "envelope 1:1 {\"metadata\":[{\"managedFields\":1}]}\n");
}

static void test_members_of_a_lists_elements(void **state)
{
    (void)state;
    check_seen("{\"spec\":{\"list\":[{\"env\":[1],\"n\":1},{\"n\":2,\"env\":{}},{\"env\":0}]}}",
               "envelope 1:1 {\"spec\":{\"list\":[{\"n\":1},{\"n\":2},{}]}}\n");
    check_seen("{\"items\":[{\"spec\":{\"list\":[ {\"env\":1} , 7,\"[\",[{\"env\":2}] ]}},5]}",
               "item 1:11 {\"spec\":{\"list\":[{},7,\"[\",[{\"env\":2}]]}}\n"
               "item 1:63 5\nenvelope 1:1 {}\n");
    check_seen(
        "{\"spec\":{\"list\":[{\"deep\":{\"in\":[{\"x\":1,\"y\":1},{}],\"x\":1}}],\"env\":1}}",
        "envelope 1:1 {\"spec\":{\"list\":[{\"deep\":{\"in\":[{\"y\":1},{}],\"x\":1}}],"
        "\"env\":1}}\n");
    check_seen("{\"spec\":{\"list\":[]}}", "envelope 1:1 {\"spec\":{\"list\":[]}}\n");
    check_seen("{\"spec\":{\"list\":{\"env\":1}}}",
               "envelope 1:1 {\"spec\":{\"list\":{\"env\":1}}}\n");
    check_seen("{\"ab\":[{\"x\":1}]}", "envelope 1:1 {\"ab\":[{\"x\":1}]}\n");
}

static void test_a_path_counts_from_its_beginning(void **state)
{
    (void)state;
    check_seen("{\"ab\":{\"x\":1,\"y\":2},\"cd\":{\"x\":3,\"y\":4}}",
               "envelope 1:1 {\"ab\":{\"y\":2},\"cd\":{\"x\":3}}\n");
    check_seen("{\"a\":{\".x\":1}}", "envelope 1:1 {\"a\":{\".x\":1}}\n");
    check_seen("{\"abc\":{\"x\":1},\"a\":{\"x\":1},\"x\":1,\"ab\":5}",
               "envelope 1:1 {\"abc\":{\"x\":1},\"a\":{\"x\":1},\"x\":1,\"ab\":5}\n");
}

static void test_the_first_fault_has_its_place(void **state)
{
    (void)state;
    check_fault("", "1:1: the text is empty, should be a JSON object");
    check_fault(" \n ", "1:1: the text is empty, should be a JSON object");
    check_fault("[1]", "1:1: found '[', should be '{', where an object begins");
    check_fault("{\"a\":1,}", "1:8: found '}', should be a key in double quotes");
    check_fault("{,", "1:2: found ',', should be a key in double quotes or '}'");
    check_fault("{\"a\" 1}", "1:6: found '1', should be ':' after the key");
    check_fault("{\"a\":}", "1:6: found '}', should be a value");
    check_fault("{\"a\":[1,]}", "1:9: found ']', should be a value");
    check_fault("{\"a\":[}", "1:7: found '}', should be a value or ']'");
    check_fault("{\"a\":[1}", "1:8: found '}', should be ',' or ']'");
    check_fault("{\"a\":1]", "1:7: found ']', should be ',' or '}'");
    check_fault("{\"a\":1\n \"b\":2}", "2:2: found '\"', should be ',' or '}'");
    check_fault("{\"a\":tru\n}", "1:9: the line ends here, should be true");
    check_fault("{\"a\":nul", "1:9: the text ends here, should be null");
    check_fault("{\"a\":'x'}", "1:6: found ''', should be a value");
    check_fault("{\"a\":\x01}", "1:6: found the byte 0x01, should be a value");
    check_fault("{\"status\":{\"a\":\n[1,]}}", "2:4: found ']', should be a value");
}

static void test_indentation_of_any_width_is_counted(void **state)
{
    (void)state;
    for (int n = 0; n < 40; n++) {
        char text[80];
        char error[80];
        (void)snprintf(text, sizeof text, "{\"a\":\n%*s!}", n, "");
        (void)snprintf(error, sizeof error, "2:%d: found '!', should be a value", n + 1);
        check_fault(text, error);
    }
}

static void test_invalid_numbers_are_rejected(void **state)
{
    (void)state;
    check_seen("{\"a\":[0,-0,1.5,1e5,1E+05,10e-1,-12.25]}",
               "envelope 1:1 {\"a\":[0,0,1.5,100000.0,100000.0,1.0,-12.25]}\n");
    check_fault("{\"a\":01}", "1:7: found '1', should be a digit");
    check_fault("{\"a\":-}", "1:7: found '}', should be a digit");
    check_fault("{\"a\":1.}", "1:8: found '}', should be a digit");
    check_fault("{\"a\":1e+}", "1:9: found '}', should be a digit");
    check_fault("{\"a\":.5}", "1:6: found '.', should be a value");
    check_fault("{\"a\":1.5.5}", "1:9: found '.', should be ',' or '}'");
    check_fault("{\"a\":NaN}", "1:6: found 'N', should be a value");
}

static void test_invalid_strings_are_rejected(void **state)
{
    (void)state;
    check_seen("{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00E9\\ud83d\\uDE00\"}",
               "envelope 1:1 {\"a\":\"\\\"\\\\/\\b\\f\\n\\r\\t\u00e9\U0001f600\"}\n");
    check_seen("{\"\u00e9\u20ac\U0001f600\":\"\x7f\"}",
               "envelope 1:1 {\"\u00e9\u20ac\U0001f600\":\"\x7f\"}\n");
    check_fault("{\"a\":\"x\ny\"}",
                "1:8: the line ends here, should be the string's closing quote, or an escape "
                "such as \\n");
    check_fault("{\"a\":\"long enough for words\x1f\"}",
                "1:28: found the byte 0x1f, should be the string's closing quote, or an escape "
                "such as \\n");
    check_fault("{\"a\":\"\\x\"}", "1:8: found 'x', should be one of \"\\/bfnrtu after the '\\'");
    check_fault("{\"a\":\"\\u12g4\"}", "1:11: found 'g', should be a hexadecimal digit");
    check_fault("{\"a\":\"\\udc00\"}",
                "1:7: \\udc00 is the second half of a pair, without the first");
    check_fault("{\"a\":\"\\ud800x\"}",
                "1:13: found 'x', should be the second half of a pair (\\ud800\\udc00)");
    check_fault("{\"a\":\"\\ud800\\n\"}",
                "1:14: found 'n', should be the second half of a pair (\\ud800\\udc00)");
    check_fault("{\"a\":\"\\ud800\\u0041\"}",
                "1:13: \\u0041 is not the second half of the pair that began before");
}

static void test_invalid_utf8_is_rejected(void **state)
{
    (void)state;
    check_fault("{\"a\":\"\x80\"}", "1:7: found the byte 0x80, should be UTF-8");
    check_fault("{\"a\":\"\xc0\x80\"}", "1:7: found the byte 0xc0, should be UTF-8");
    check_fault("{\"a\":\"\xf5\x80\"}", "1:7: found the byte 0xf5, should be UTF-8");
    check_fault("{\"a\":\"\xc3\"}", "1:8: found '\"', should be the rest of a UTF-8 character");
    check_fault("{\"a\":\"\xe0\x9f\x80\"}",
                "1:8: found the byte 0x9f, should be the rest of a UTF-8 character");
    check_fault("{\"a\":\"\xed\xa0\x80\"}",
                "1:8: found the byte 0xa0, should be the rest of a UTF-8 character");
    check_fault("{\"a\":\"\xf4\x90\x80\x80\"}",
                "1:8: found the byte 0x90, should be the rest of a UTF-8 character");
}

static void test_faults_found_by_jansson_name_the_object(void **state)
{
    (void)state;
    check_fault("\n {\"a\":1,\n\"a\":2}",
                "2:2: in the object that begins here: duplicate object key near '\"a\"'");
    check_fault("{\"a\":99999999999999999999}",
                "1:1: in the object that begins here: too big integer near "
                "'99999999999999999999'");
    check_cut_anywhere("{\"items\":[{},\n{\"a\":1e999}]}", -EINVAL, "item 1:11 {}\n",
                       "2:1: in the object that begins here: real number overflow near '1e999'");
    check_fault("{\"items\":5,\"items\":[]}", "1:12: \"items\" is here twice");
}

static void test_depth_is_limited(void **state)
{
    (void)state;
    check_seen("{\"a\":[[[[[[[[[[[1]]]]]]]]]]]}", "envelope 1:1 {\"a\":[[[[[[[[[[[1]]]]]]]]]]]}\n");
    check_fault("{\"a\":[[[[[[[[[[[[1]]]]]]]]]]]]}", "1:17: nested deeper than 12 levels");
    check_fault("{\"status\":[[[[[[[[[[[{}", "1:22: nested deeper than 12 levels");
}

static void test_size_limit_applies_to_the_kept_part_of_one_object(void **state)
{
    (void)state;
    char text[4000];
    char fill[301];
    memset(fill, 'x', 300);
    fill[300] = '\0';
    (void)snprintf(text, sizeof text,
                   "{\"items\":[{\"status\":\"%s\",\"a\":1},{\"a\":\"%.250s\"},"
                   "{\"a\":\"%.250s\"}]}",
                   fill, fill, fill);
    struct outcome out;
    run(&out, text, 100, 100);
    assert_string_equal(out.err.text, "");
    assert_int_equal(out.r, 0);
    buf_fini(&out.seen.text);
    (void)snprintf(text, sizeof text, "{\"items\":[{\"status\":1},\n {\"a\":\"%s\"}]}", fill);
    check_cut_anywhere(text, -EMSGSIZE, "item 1:11 {}\n",
                       "2:2: the object that begins here is larger than 300 bytes");
    (void)snprintf(text, sizeof text, "{\"a\":[\"%s\"!]}", fill);
    check_cut_anywhere(text, -EMSGSIZE, "",
                       "1:1: the object that begins here is larger than 300 bytes");
    (void)snprintf(text, sizeof text, "{\"items\":[{\"spec\":{\"a\":\"%s\"}}]}", fill);
    check_cut_anywhere(text, -EMSGSIZE, "",
                       "1:11: the object that begins here is larger than 300 bytes");
}

/* More than an object may have is inserted between the two. */
static void check_parts(const char *before, const char *after, const char *seen)
{
    char text[1000];
    char fill[301];
    memset(fill, 'x', 300);
    fill[300] = '\0';
    (void)snprintf(text, sizeof text, "%s%s%s", before, fill, after);
    check_seen(text, seen);
}

static void test_the_rest_of_a_too_large_object_can_be_skipped(void **state)
{
    (void)state;
    takes_parts = true;
    check_parts("{\"items\":[{\"a\":1,\"b\":\"", "\",\"c\":3},{\"d\":4}]}",
                "large item {\"a\":1}\nitem 1:332 {\"d\":4}\nenvelope 1:1 {}\n");
    check_parts("{\"items\":[{\"metadata\":{\"name\":\"[}\\\"{\",\"annotations\":{\"a\":\"",
                "\"}}},{}]}",
                "large item {\"metadata\":{\"name\":\"[}\\\"{\",\"annotations\":{}}}\n"
                "item 1:364 {}\nenvelope 1:1 {}\n");
    check_parts("{\"items\":[{\"spec\":{\"list\":[{\"x\":1},{\"y\":2,\"z\":[\"",
                "\"]}]}}],\"kind\":\"L\"}",
                "large item {\"spec\":{\"list\":[{\"x\":1},{\"y\":2}]}}\n"
                "envelope 1:1 {\"kind\":\"L\"}\n");
    check_parts("{\"items\":[{\"", "\":1}]}", "large item {}\nenvelope 1:1 {}\n");
    check_parts("{\"a\":1,\"ab\":{\"y\":[1,\"", "\"]}}\n{\"a\":2}",
                "large envelope {\"a\":1,\"ab\":{}}\nenvelope 2:1 {\"a\":2}\n");
    check_parts("{\"items\":[{\"a\":1}],\"b\":\"", "\"}",
                "item 1:11 {\"a\":1}\nlarge envelope {}\n");
    takes_parts = false;
}

static void test_a_too_large_object_may_end_at_any_byte(void **state)
{
    char text[400];
    (void)state;
    takes_parts = true;
    for (size_t n = 270; n < 300; n++) {
        char fill[301];
        memset(fill, 'x', n);
        fill[n] = '\0';
        const int len = snprintf(text, sizeof text, "{\"spec\":{\"list\":[{\"a\":\"%s\"}]}}", fill);
        struct outcome out;
        run(&out, text, 0, 1);
        assert_int_equal(out.r, 0);
        assert_true(strncmp(buf_text(&out.seen.text), len <= 300 ? "envelope" : "large", 5) == 0);
        buf_fini(&out.seen.text);
    }
    takes_parts = false;
}

static void test_the_end_inside_an_object_is_a_fault(void **state)
{
    (void)state;
    check_fault("{", "1:2: the text ends here, should be a key in double quotes or '}'");
    check_fault("{\"a\":1", "1:7: the text ends here, should be ',' or '}'");
    check_fault("{\"a\":-", "1:7: the text ends here, should be a digit");
    check_fault("{\"a\":[1 ", "1:9: the text ends here, should be ',' or ']'");
    check_cut_anywhere("{}\n{\"a", -EINVAL, "envelope 1:1 {}\n",
                       "2:4: the text ends here, should be the string's closing quote, or an "
                       "escape such as \\n");
}

static void test_an_error_of_the_handler_ends_the_reading(void **state)
{
    (void)state;
    struct seen seen;
    struct err err = {""};
    struct json_stream_handler handler = seen_handler(&seen, -ENOSPC);
    struct json_stream *stream = json_stream_new(&OPTIONS, &handler);
    assert_int_equal(json_stream_feed(stream, "{\"items\":[1,2]}", 15, &err), -ENOSPC);
    assert_string_equal(err.text, "enough");
    json_stream_free(stream);
    buf_fini(&seen.text);
}

static void test_either_handler_may_be_missing(void **state)
{
    (void)state;
    const struct json_stream_handler nobody = {0};
    const struct json_stream_options keep_all = {.max_object_bytes = 20, .max_depth = 12};
    struct json_stream *stream = json_stream_new(&keep_all, &nobody);
    static const char TEXT[] = "{\"items\":[{\"longer\":\"than twenty bytes\"},5],\"a\":1}";
    assert_int_equal(json_stream_feed(stream, TEXT, sizeof TEXT - 1, NULL), 0);
    assert_int_equal(json_stream_end(stream, NULL), 0);
    json_stream_free(stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_objects_follow_one_another),
        cmocka_unit_test(test_items_come_first_and_the_envelope_without_them),
        cmocka_unit_test(test_only_a_top_level_array_is_a_list),
        cmocka_unit_test(test_dropped_members_read_as_absent),
        cmocka_unit_test(test_members_of_a_lists_elements),
        cmocka_unit_test(test_a_path_counts_from_its_beginning),
        cmocka_unit_test(test_the_first_fault_has_its_place),
        cmocka_unit_test(test_indentation_of_any_width_is_counted),
        cmocka_unit_test(test_invalid_numbers_are_rejected),
        cmocka_unit_test(test_invalid_strings_are_rejected),
        cmocka_unit_test(test_invalid_utf8_is_rejected),
        cmocka_unit_test(test_faults_found_by_jansson_name_the_object),
        cmocka_unit_test(test_depth_is_limited),
        cmocka_unit_test(test_size_limit_applies_to_the_kept_part_of_one_object),
        cmocka_unit_test(test_the_rest_of_a_too_large_object_can_be_skipped),
        cmocka_unit_test(test_a_too_large_object_may_end_at_any_byte),
        cmocka_unit_test(test_the_end_inside_an_object_is_a_fault),
        cmocka_unit_test(test_an_error_of_the_handler_ends_the_reading),
        cmocka_unit_test(test_either_handler_may_be_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
