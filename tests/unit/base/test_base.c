/* base: errors, arena, buffers, Prometheus text. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/nearest.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void test_err_prefix_keeps_the_message(void **state)
{
    (void)state;
    struct err err;
    assert_int_equal(err_set(&err, EINVAL, "%s is %d", "x", 3), -EINVAL);
    err_prefix(&err, "file %s: ", "a.yaml");
    assert_string_equal(err.text, "file a.yaml: x is 3");
    assert_int_equal(err_set(NULL, ENOENT, "nobody listens"), -ENOENT);
}

static void test_err_is_cut_at_its_size(void **state)
{
    (void)state;
    struct err err;
    char text[2 * ERR_TEXT_MAX];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    (void)err_set(&err, EINVAL, "%s", text);
    err_prefix(&err, "%s", text);
    assert_int_equal(strlen(err.text), ERR_TEXT_MAX - 1);
}

static void test_arena_memory_is_zeroed_and_kept(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    char *first = arena_printf(arena, "%s-%d", "node", 7);
    for (int i = 0; i < 1000; i++) {
        unsigned char *bytes = arena_alloc(arena, 100);
        for (int j = 0; j < 100; j++)
            assert_int_equal(bytes[j], 0);
        memset(bytes, 0xff, 100);
    }
    unsigned char *large = arena_alloc(arena, 1 << 20);
    large[(1 << 20) - 1] = 1;
    assert_string_equal(first, "node-7");
    assert_string_equal(arena_strndup(arena, "abcdef", 3), "abc");
    assert_null(arena_copy(arena, "", 0, 8));
    arena_free(arena);
}

static void test_buf_rejects_text_over_its_maximum(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 5);
    assert_string_equal(buf_text(&buf), "");
    buf_add_text(&buf, "abc");
    assert_false(buf.overflowed);
    buf_add_text(&buf, "def");
    assert_true(buf.overflowed);
    buf_printf(&buf, "%d", 123);
    buf_printf(&buf, "%d", 12);
    assert_string_equal(buf_text(&buf), "abc12");
    assert_true(buf.overflowed);
    char *taken = buf_take(&buf);
    assert_string_equal(taken, "abc12");
    free(taken);
    assert_int_equal(buf.len, 0);
    assert_false(buf.overflowed);
}

static void test_secret_buf_keeps_its_text_and_wipes_it(void **state)
{
    (void)state;
    struct buf buf;
    char expected[1001] = "";
    memset(expected, 'x', sizeof expected - 1);
    buf_init_secret(&buf, sizeof expected - 1);
    for (size_t i = 0; i + 1 < sizeof expected; i++)
        buf_add_text(&buf, "x");
    assert_false(buf.overflowed);
    buf_add_text(&buf, "x");
    assert_string_equal(buf_text(&buf), expected);
    assert_true(buf.overflowed);
    buf_clear(&buf);
    assert_false(buf.overflowed);
    for (size_t i = 0; i < buf.size; i++)
        assert_int_equal(buf.data[i], 0);
    buf_fini(&buf);
    assert_true(buf.is_secret);
}

static void test_buf_quotes_as_json(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 100);
    buf_add_quoted(&buf, "a\"b\\c\nd\x01é");
    assert_string_equal(buf_text(&buf), "\"a\\\"b\\\\c\\nd\\u0001é\"");
    buf_fini(&buf);
}

/* C1 controls, and those that change the direction of text. */
static void test_buf_keeps_no_control(void **state)
{
    (void)state;
    static const char TEXT[] = "a\x1b\x7f\xc2\x9b\u061c\u200f\u202e\u2066é\u2010\u0621";
    struct buf buf;
    buf_init(&buf, 100);
    buf_add_one_line(&buf, TEXT);
    assert_string_equal(buf_text(&buf), "a       é\u2010\u0621");
    buf_clear(&buf);
    buf_add_quoted(&buf, TEXT);
    assert_string_equal(buf_text(&buf), "\"a\\u001b\\u007f\\u009b\\u061c\\u200f\\u202e\\u2066é"
                                        "\u2010\u0621\"");
    buf_fini(&buf);
}

/* Unicode's "default ignorable" and format characters, also those that are not assigned yet, and
 * their neighbours. */
static void test_buf_keeps_nothing_invisible(void **state)
{
    (void)state;
    static const struct {
        const char *text, *quoted;
    } CASES[] = {
        {"\u00ad", "\"\\u00ad\""},            /* soft hyphen */
        {"\u034f", "\"\\u034f\""},            /* combining grapheme joiner */
        {"\u0600", "\"\\u0600\""},            /* Arabic number sign */
        {"\u115f", "\"\\u115f\""},            /* Hangul choseong filler */
        {"\u17b4", "\"\\u17b4\""},            /* Khmer vowel inherent aq */
        {"\u180e", "\"\\u180e\""},            /* Mongolian vowel separator */
        {"\u2065", "\"\\u2065\""},            /* not assigned */
        {"\u206f", "\"\\u206f\""},            /* nominal digit shapes */
        {"\u3164", "\"\\u3164\""},            /* Hangul filler */
        {"\ufe0f", "\"\\ufe0f\""},            /* variation selector 16 */
        {"\uffa0", "\"\\uffa0\""},            /* halfwidth Hangul filler */
        {"\ufff0", "\"\\ufff0\""},            /* not assigned */
        {"\ufffb", "\"\\ufffb\""},            /* interlinear annotation terminator */
        {"\U0001d173", "\"\\ud834\\udd73\""}, /* musical symbol begin beam */
        {"\U000e0041", "\"\\udb40\\udc41\""}, /* tag Latin capital letter a */
        {"\U000e0fff", "\"\\udb43\\udfff\""}, /* not assigned */
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct buf buf;
        buf_init(&buf, 100);
        buf_add_quoted(&buf, CASES[i].text);
        assert_string_equal(buf_text(&buf), CASES[i].quoted);
        buf_clear(&buf);
        buf_add_one_line(&buf, CASES[i].text);
        assert_string_equal(buf_text(&buf), " ");
        buf_fini(&buf);
    }
    static const char SEEN[] = "\u00ac\u00ae\u3163\u3165\uffef\ufffd\U0001d172\U000e1000";
    struct buf buf;
    buf_init(&buf, 100);
    buf_add_one_line(&buf, SEEN);
    assert_string_equal(buf_text(&buf), SEEN);
    buf_fini(&buf);
}

static void test_buf_replaces_invalid_utf8_when_quoting(void **state)
{
    (void)state;
    static const struct {
        const char *text, *quoted;
    } CASES[] = {
        {"é€\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf", "\"é€\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf\""},
        {"\xff"
         "a\x80",
         "\"\\ufffda\\ufffd\""},
        {"\xc0\xaf", "\"\\ufffd\\ufffd\""},                       /* overlong */
        {"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""},            /* a surrogate */
        {"\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""}, /* beyond U+10FFFF */
        {"\xe2\x82", "\"\\ufffd\\ufffd\""},                       /* truncated */
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct buf buf;
        buf_init(&buf, 100);
        buf_add_quoted(&buf, CASES[i].text);
        assert_string_equal(buf_text(&buf), CASES[i].quoted);
        buf_fini(&buf);
    }
}

static void test_buf_decimal(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 60);
    buf_add_decimal(&buf, 0);
    buf_add_text(&buf, " ");
    buf_add_decimal(&buf, -10);
    buf_add_text(&buf, " ");
    buf_add_decimal(&buf, INT64_MAX);
    buf_add_text(&buf, " ");
    buf_add_decimal(&buf, INT64_MIN);
    assert_string_equal(buf_text(&buf), "0 -10 9223372036854775807 -9223372036854775808");
    buf_add_decimal(&buf, INT64_MIN);
    assert_true(buf.overflowed);
    buf_fini(&buf);
}

static void test_metrics_text(void **state)
{
    (void)state;
    struct buf out;
    buf_init(&out, 10000);
    metrics_sample(&out, "m", NULL, 3);
    const struct metric_label labels[] = {{"node", "a\"\\\nb"}, {0}};
    metrics_sample(&out, "m", labels, 1234567890123.0);
    assert_string_equal(buf_text(&out), "m 3\nm{node=\"a\\\"\\\\\\nb\"} 1234567890123\n");
    buf_clear(&out);
    struct histogram histogram = {0};
    histogram_observe_ns(&histogram, 100000); /* a bound is part of its bucket */
    histogram_observe_ns(&histogram, 100001);
    histogram_observe_ns(&histogram, 60000000000);
    metrics_histogram(&out, "h", NULL, &histogram);
    assert_non_null(strstr(buf_text(&out), "h_bucket{le=\"0.0001\"} 1\n"));
    assert_non_null(strstr(buf_text(&out), "h_bucket{le=\"0.00025\"} 2\n"));
    assert_non_null(strstr(buf_text(&out), "h_bucket{le=\"5\"} 2\n"));
    assert_non_null(strstr(buf_text(&out), "h_bucket{le=\"+Inf\"} 3\n"));
    assert_non_null(strstr(buf_text(&out), "h_count 3\n"));
    buf_fini(&out);
}

static double value_of(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    assert_non_null(at);
    return strtod(at + strlen(name), NULL);
}

static void test_process_metrics(void **state)
{
    (void)state;
    struct buf before;
    struct buf after;
    int pipe_fds[2];
    buf_init(&before, 10000);
    buf_init(&after, 10000);
    metrics_process(&before);
    assert_int_equal(pipe(pipe_fds), 0);
    metrics_process(&after);
    const char *text = buf_text(&after);
    assert_true(value_of(text, "\nprocess_open_fds ") ==
                value_of(buf_text(&before), "\nprocess_open_fds ") + 2);
    assert_true(value_of(text, "\nprocess_cpu_seconds_total ") > 0);
    assert_true(value_of(text, "\nprocess_resident_memory_bytes ") > 1e6);
    assert_true(value_of(text, "\nprocess_virtual_memory_bytes ") >
                value_of(text, "\nprocess_resident_memory_bytes "));
    assert_true(value_of(text, "\nprocess_max_fds ") > value_of(text, "\nprocess_open_fds "));
    const double started_s = value_of(text, "\nprocess_start_time_seconds ");
    assert_true(started_s > (double)time(NULL) - 600 && started_s < (double)time(NULL) + 2);
    (void)close(pipe_fds[0]);
    (void)close(pipe_fds[1]);
    buf_fini(&before);
    buf_fini(&after);
}

/* Runs LOG with standard error sent to a pipe, and returns the line. */
static void captured_line(enum log_format format, char *line, size_t size)
{
    int pipe_fds[2];
    assert_int_equal(pipe(pipe_fds), 0);
    int saved = dup(STDERR_FILENO);
    assert_true(dup2(pipe_fds[1], STDERR_FILENO) >= 0);
    log_configure(LOG_INFO, format);
    LOG(LOG_DEBUG, "test", LOG_MSG("not shown"));
    LOG(LOG_WARN, "test", LOG_MSG("left out"), LOG_STR("kind", "Node"), LOG_STR("key", "\x1b[m"),
        LOG_NUM("n", 3));
    assert_true(dup2(saved, STDERR_FILENO) >= 0);
    ssize_t n = read(pipe_fds[0], line, size - 1);
    assert_true(n > 0);
    line[n] = '\0';
    assert_int_equal(close(pipe_fds[0]) + close(pipe_fds[1]) + close(saved), 0);
}

static void test_log_line(void **state)
{
    (void)state;
    char line[512];
    captured_line(LOG_KEY_VALUE, line, sizeof line);
    assert_string_equal(strstr(line, "level="),
                        "level=warn mod=test msg=\"left out\" kind=Node key=\"\\u001b[m\" n=3\n");
    captured_line(LOG_JSON, line, sizeof line);
    assert_string_equal(strstr(line, ",\"level\""),
                        ",\"level\":\"warn\",\"mod\":\"test\",\"msg\":\"left out\","
                        "\"kind\":\"Node\",\"key\":\"\\u001b[m\",\"n\":3}\n");
}

static void test_err_is_never_cut_inside_a_character(void **state)
{
    (void)state;
    char text[1001] = {0};
    for (size_t i = 0; i < 1000; i += 2)
        (void)snprintf(text + i, 3, "\u00e9");
    struct err err;
    (void)err_set(&err, EINVAL, "%s", text);
    assert_int_equal(strlen(err.text) % 2, 0);
    err_prefix(&err, "x");
    assert_int_equal(strlen(err.text) % 2, 1);
    assert_true(strlen(err.text) > 500);
}

static void test_near_words(void **state)
{
    (void)state;
    assert_int_equal(nearest_distance("nodes", "nodes"), 0);
    assert_int_equal(nearest_distance("GPUresources", "gpuResources"), 0);
    assert_int_equal(nearest_distance("gpuResource", "gpuResources"), 1);
    assert_int_equal(nearest_distance("gpuRresources", "gpuResources"), 1);
    assert_int_equal(nearest_distance("gpuResourxes", "gpuResources"), 1);
    assert_int_equal(nearest_distance("", "a"), 1);
    assert_int_equal(nearest_distance("mdoels", "models"), 2);
    assert_true(nearest_distance("taints", "models") == SIZE_MAX);
    char text[100];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_true(nearest_distance(text, text) == SIZE_MAX);
}

static void test_of_equally_near_words_the_one_that_begins_alike_is_found(void **state)
{
    (void)state;
    static const char *const KNOWN[] = {"p100-2", "h100-1", "h100-3"};
    struct nearest nearest = {.asked = "h100-2", .least = SIZE_MAX};
    assert_true(nearest_try(&nearest, KNOWN[0]));
    assert_true(nearest_try(&nearest, KNOWN[1]));
    assert_false(nearest_try(&nearest, KNOWN[2]));
    assert_ptr_equal(nearest.found, KNOWN[1]);
}

static void test_near_resources(void **state)
{
    (void)state;
    assert_int_equal(nearest_rank("nodse", "nodes"), 2);
    assert_true(nearest_rank("nvidia.com/h100", "nvidia.com/gpu") <
                nearest_rank("nvidia.com/h100", "amd.com/gpu"));
    assert_true(nearest_rank("nvidia.com/gpus", "nvidia.com/gpu") <
                nearest_rank("nvidia.com/gpus", "nvidia.com/gpus-of-a-very-long-name"));
    assert_true(nearest_is_resource("nvidia", "nvidia.com/gpu"));
    assert_true(nearest_is_resource("gpus", "nvidia.com/gpu"));
    assert_true(nearest_is_resource("mem", "memory"));
    assert_true(nearest_is_resource("nvidai.com/gpu", "nvidia.com/gpu"));
    assert_true(nearest_is_resource("nvidia.con/gpu", "nvidia.com/gpu"));
    assert_true(nearest_is_resource("nvidia.cmo/gpu", "nvidia.com/gpu"));
    assert_false(nearest_is_resource("nvidia.com/mig-2g.5gb", "nvidia.com/mig-1g.5gb"));
    assert_false(nearest_is_resource("me", "memory"));
    assert_false(nearest_is_resource("amd.com/gpu", "nvidia.com/gpu"));
}

static void test_times_are_read_with_any_zone(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t seconds; /* -1: invalid */
    } CASES[] = {
        {"2026-11-21T10:00:00Z", 1795255200},
        {"2026-11-21T10:00:00.123456789Z", 1795255200},
        {"2026-11-21T11:30:00+01:30", 1795255200},
        {"1970-01-01T00:00:00Z", 0},
        {"2026-11-21T10:00:00", -1},
        {"2026-11-21T10:00:00Zulu", -1},
        {"2026-13-21T10:00:00Z", -1},
        {"tomorrow", -1},
        {"", -1},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        int64_t seconds = -1;
        int r = text_time_read(CASES[i].text, &seconds);
        if (r != (CASES[i].seconds < 0 ? -EINVAL : 0) || seconds != CASES[i].seconds)
            fail_msg("%s gives %d and %lld", CASES[i].text, r, (long long)seconds);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_err_prefix_keeps_the_message),
        cmocka_unit_test(test_err_is_cut_at_its_size),
        cmocka_unit_test(test_err_is_never_cut_inside_a_character),
        cmocka_unit_test(test_near_words),
        cmocka_unit_test(test_of_equally_near_words_the_one_that_begins_alike_is_found),
        cmocka_unit_test(test_near_resources),
        cmocka_unit_test(test_arena_memory_is_zeroed_and_kept),
        cmocka_unit_test(test_buf_decimal),
        cmocka_unit_test(test_buf_rejects_text_over_its_maximum),
        cmocka_unit_test(test_secret_buf_keeps_its_text_and_wipes_it),
        cmocka_unit_test(test_buf_quotes_as_json),
        cmocka_unit_test(test_buf_keeps_no_control),
        cmocka_unit_test(test_buf_keeps_nothing_invisible),
        cmocka_unit_test(test_buf_replaces_invalid_utf8_when_quoting),
        cmocka_unit_test(test_metrics_text),
        cmocka_unit_test(test_process_metrics),
        cmocka_unit_test(test_log_line),
        cmocka_unit_test(test_times_are_read_with_any_zone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
