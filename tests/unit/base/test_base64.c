/* base64: the vectors of RFC 4648, and invalid input. */
#include "base/base64.h"
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void vectors_go_both_ways(void **state)
{
    (void)state;
    static const char *const VECTORS[][2] = {
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
        {"\xfb\xff\xfe", "+//+"},
    };
    for (size_t i = 0; i < sizeof VECTORS / sizeof *VECTORS; i++) {
        char *bytes = NULL;
        size_t len = 99;
        assert_int_equal(base64_decode(VECTORS[i][1], &bytes, &len), 0);
        assert_int_equal(len, strlen(VECTORS[i][0]));
        assert_string_equal(bytes, VECTORS[i][0]);
        free(bytes);
        char *text = base64_encode(VECTORS[i][0], strlen(VECTORS[i][0]));
        assert_string_equal(text, VECTORS[i][1]);
        free(text);
    }
}

static void line_breaks_are_skipped(void **state)
{
    (void)state;
    char *bytes = NULL;
    size_t len = 0;
    assert_int_equal(base64_decode("Zm\n9v\r\nYg\n==\n", &bytes, &len), 0);
    assert_string_equal(bytes, "foob");
    free(bytes);
}

static void invalid_base64_is_rejected(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {
        "Z",    "Zg",   "Zg=",   "Zm9",      "Z===",   "====", "=",    "Zg==Zg==", "Zg===",
        "Zh==", "Zm9=", "Zm 9v", "Zm9v====", "Zm9v\t", "Zm-_", "Zg=a", "Zg==\nA",  "\xc3\xa9YW",
    };
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        char *bytes = NULL;
        size_t len = 99;
        if (base64_decode(TEXTS[i], &bytes, &len) != -EINVAL)
            fail_msg("\"%s\" was read", TEXTS[i]);
        assert_null(bytes);
        assert_int_equal(len, 99);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_go_both_ways),
        cmocka_unit_test(line_breaks_are_skipped),
        cmocka_unit_test(invalid_base64_is_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
