/* yaml_each on split input: splits change nothing, positions stay exact, and little is read
 * ahead. */
#include "formats/yaml_json.h"
#include "pieces.h"
#include "seen.h"
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct yaml_options OPTIONS = {.max_depth = 20, .max_values = 100000};
static const size_t PIECES[] = {1, 2, 3, 5, 16384, 1000000};
#define N_PIECES (sizeof PIECES / sizeof PIECES[0])

static void check_seen(const char *text, const char *expected)
{
    for (size_t i = 0; i < N_PIECES; i++) {
        struct seen seen;
        struct err err = {""};
        struct json_stream_handler handler = seen_handler(&seen, 0);
        struct pieces pieces = {.text = text, .len = strlen(text), .piece = PIECES[i]};
        if (yaml_each(pieces_read, &pieces, &OPTIONS, &handler, &err) < 0)
            fail_msg("in pieces of %zu: %s", PIECES[i], err.text);
        assert_string_equal(buf_text(&seen.text), expected);
        buf_fini(&seen.text);
    }
}

static void check_refused(const char *text, int code, const char *expected)
{
    const struct json_stream_handler nobody = {.context = NULL};
    for (size_t i = 0; i < N_PIECES; i++) {
        struct err err = {""};
        struct pieces pieces = {.text = text, .len = strlen(text), .piece = PIECES[i]};
        assert_int_equal(yaml_each(pieces_read, &pieces, &OPTIONS, &nobody, &err), -code);
        assert_string_equal(err.text, expected);
    }
}

/* n copies of the line, then the end. */
static char *long_text(const char *line, size_t n, const char *end)
{
    struct buf text;
    buf_init(&text, 10000000);
    for (size_t i = 0; i < n; i++)
        buf_add_text(&text, line);
    buf_add_text(&text, end);
    return buf_take(&text);
}

static void check_long_refused(const char *line, size_t n, const char *end, int code,
                               const char *expected)
{
    char *text = long_text(line, n, end);
    check_refused(text, code, expected);
    free(text);
}

static void test_cuts_change_nothing(void **state)
{
    (void)state;
    check_seen("# é\nkind: List\nitems:\n- a: \"é\\n\"\n  b: |\n    text\n\n- 5\n---\nx: '€𝄞'\n",
               "item 4:3 {\"a\":\"é\\n\",\"b\":\"text\\n\"}\nitem 8:3 5\n"
               "envelope 2:1 {\"kind\":\"List\"}\nenvelope 10:1 {\"x\":\"€𝄞\"}\n");
    check_seen("", "");
}

static void test_a_byte_order_mark_is_skipped(void **state)
{
    (void)state;
    check_seen("\xef\xbb\xbfkind: x\n", "envelope 1:1 {\"kind\":\"x\"}\n");
    check_seen("\xef\xbb\xbf", "");
    check_seen("\xef\xbb\xbf---\na: 1\n", "envelope 2:1 {\"a\":1}\n");
    check_refused("\xef\xbb", EINVAL, "1:1: incomplete UTF-8 octet sequence");
    check_refused("\xef\xbb\xbf\xc3\xa9: \xff", EINVAL, "1:4: invalid leading UTF-8 octet (0xff)");
}

static void test_text_after_a_byte_order_mark_is_read_whole(void **state)
{
    (void)state;
    static const char TEXT[] = "\xef\xbb\xbf# policy\nkind: x\n";
    struct err err = {""};
    json_t *root = NULL;
    struct yaml_places *places = NULL;
    assert_int_equal(yaml_read(TEXT, sizeof TEXT - 1, &OPTIONS, &root, &places, &err), 0);
    assert_string_equal(json_string_value(json_object_get(root, "kind")), "x");
    assert_int_equal(yaml_place_of_key(places, root, "kind").line, 2);
    json_decref(root);
    yaml_places_free(places);
}

/* Beyond any of libyaml's buffers, after characters of two and four bytes. */
static void test_places_of_bad_bytes_are_exact(void **state)
{
    (void)state;
    check_long_refused("# é𝄞\n", 30001, "k: \"é\xff\"\n", EINVAL,
                       "30002:6: invalid leading UTF-8 octet (0xff)");
    check_long_refused("# é𝄞 ", 30001, "\xc3", EINVAL, "1:150006: incomplete UTF-8 octet sequence");
    check_long_refused("- é\n", 30001, "- é \x01", EINVAL,
                       "30002:5: control characters are not allowed (0x01)");
    check_long_refused("- é\n", 30001, "- \xe2\x82", EINVAL,
                       "30002:3: incomplete UTF-8 octet sequence");
}

/* n different directives. */
static char *directives(size_t n, const char *line_end)
{
    struct buf text;
    buf_init(&text, 10000000);
    for (size_t i = 0; i < n; i++)
        buf_printf(&text, "%%TAG !%04zu! x:%s", i, line_end);
    return buf_take(&text);
}

static void check_directives_refused(const char *line_end, const char *expected)
{
    char *text = directives(1001, line_end);
    check_refused(text, EMSGSIZE, expected);
    free(text);
}

static void test_tag_directives_are_counted_at_the_beginning_of_lines(void **state)
{
    (void)state;
    check_directives_refused("\n", "1001:1: more than 1000 %TAG directives");
    check_directives_refused("\r", "1:15001: more than 1000 %TAG directives");
    check_directives_refused("\xe2\x80\xa8", "1:15001: more than 1000 %TAG directives");
    char *text = long_text("# %TAG %%TAG\n #%TAG\n#\n%", 2000, "");
    check_refused(text, EINVAL,
                  "4:2: could not find expected directive name (while scanning a directive that "
                  "begins at 4:1)");
    free(text);
}

static void test_a_read_error_ends_the_reading(void **state)
{
    (void)state;
    const struct json_stream_handler nobody = {.context = NULL};
    char *text = long_text("a: b\n---\n", 10000, "");
    for (size_t fails_after = 1; fails_after < 100000; fails_after *= 7) {
        struct err err = {""};
        struct pieces pieces = {
            .text = text, .len = strlen(text), .piece = 1000, .fails_after = fails_after};
        assert_int_equal(yaml_each(pieces_read, &pieces, &OPTIONS, &nobody, &err), -EIO);
        assert_string_equal(err.text, "the disk is gone");
    }
    free(text);
}

struct look {
    const struct pieces *pieces;
    size_t n_items;
    size_t item_bytes;
    size_t most_ahead; /* bytes read beyond the items handed over */
};

static int look_ahead(void *context, json_t *item, struct text_position at, struct err *err)
{
    struct look *look = context;
    (void)item;
    (void)at;
    (void)err;
    look->n_items++;
    size_t ahead = look->pieces->n_read - look->n_items * look->item_bytes;
    look->most_ahead = ahead > look->most_ahead ? ahead : look->most_ahead;
    return 0;
}

static void test_little_is_read_ahead(void **state)
{
    (void)state;
    static const char ITEM[] = "- {kind: Pod, metadata: {name: a, namespace: b}}\n";
    struct buf text;
    buf_init(&text, 10000000);
    buf_add_text(&text, "items:\n");
    for (int i = 0; i < 20000; i++)
        buf_add_text(&text, ITEM);
    struct pieces pieces = {.text = buf_text(&text), .len = text.len, .piece = text.len};
    struct look look = {.pieces = &pieces, .item_bytes = sizeof ITEM - 1};
    const struct json_stream_handler handler = {.on_item = look_ahead, .context = &look};
    struct err err = {""};
    assert_int_equal(yaml_each(pieces_read, &pieces, &OPTIONS, &handler, &err), 0);
    assert_int_equal(look.n_items, 20000);
    assert_in_range(look.most_ahead, 1, 100000);
    buf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuts_change_nothing),
        cmocka_unit_test(test_a_byte_order_mark_is_skipped),
        cmocka_unit_test(test_text_after_a_byte_order_mark_is_read_whole),
        cmocka_unit_test(test_places_of_bad_bytes_are_exact),
        cmocka_unit_test(test_tag_directives_are_counted_at_the_beginning_of_lines),
        cmocka_unit_test(test_a_read_error_ends_the_reading),
        cmocka_unit_test(test_little_is_read_ahead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
