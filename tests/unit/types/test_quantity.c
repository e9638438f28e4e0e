/* quantity: a table computed by hand, one computed by Kubernetes, errors with their messages, and
 * random quantities against 128-bit arithmetic. */
#include "tsv.h"
#include "types/quantity.h"
#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide;

static int64_t value_of(const char *text)
{
    struct err err = {""};
    int64_t value = 0;
    if (quantity_value(text, &value, &err) != 0)
        fail_msg("%s: %s", text, err.text);
    return value;
}

static int64_t milli_of(const char *text)
{
    struct err err = {""};
    int64_t milli = 0;
    if (quantity_milli(text, &milli, &err) != 0)
        fail_msg("%s: %s", text, err.text);
    return milli;
}

static void assert_number(const char *text, int64_t got, int64_t want)
{
    if (got != want)
        fail_msg("%s: %" PRId64 ", not %" PRId64, text, got, want);
}

/* The text, Value() and MilliValue(). */
static const struct {
    const char *text;
    int64_t value;
    int64_t milli;
} NUMBERS[] = {
    {"0", 0, 0},
    {"1", 1, 1000},
    {"+1", 1, 1000},
    {"-1", -1, -1000},
    {"007", 7, 7000},
    {"128974848", 128974848, 128974848000},
    {"129e6", 129000000, 129000000000},
    {"129M", 129000000, 129000000000},
    {"123Mi", 128974848, 128974848000},
    {"12e3", 12000, 12000000},
    {"0.5", 1, 500},
    {".5", 1, 500},
    {"5.", 5, 5000},
    {"5.G", 5000000000, 5000000000000},
    {"-.5", -1, -500},
    {"500m", 1, 500},
    {"1500m", 2, 1500},
    {"2000m", 2, 2000},
    {"100m", 1, 100},
    {"0m", 0, 0},
    {"-0", 0, 0},
    {"0.000", 0, 0},
    /* decimal suffixes */
    {"1n", 1, 1},
    {"1u", 1, 1},
    {"1m", 1, 1},
    {"1k", 1000, 1000000},
    {"1M", 1000000, 1000000000},
    {"1G", 1000000000, 1000000000000},
    {"1T", 1000000000000, 1000000000000000},
    {"1P", 1000000000000000, 1000000000000000000},
    {"3n", 1, 1},
    {"1000000n", 1, 1},
    {"1000001n", 1, 2},
    {"1000000000n", 1, 1000},
    {"1000000001n", 2, 1001},
    {"2500u", 1, 3},
    {"100.035k", 100035, 100035000},
    {"0.0005k", 1, 500},
    {"7.123456M", 7123456, 7123456000},
    /* binary suffixes */
    {"1Ki", 1024, 1024000},
    {"1Mi", 1048576, 1048576000},
    {"1Gi", 1073741824, 1073741824000},
    {"1Ti", 1099511627776, 1099511627776000},
    {"1Pi", 1125899906842624, 1125899906842624000},
    {"1.5Gi", 1610612736, 1610612736000},
    {"0.5Mi", 524288, 524288000},
    {"0.05Gi", 53687092, 53687091200},
    {"100.035Ki", 102436, 102435840},
    {"0.000000000001Ki", 1, 1},
    {"-1.5Ki", -1536, -1536000},
    {"-0.1Ki", -103, -102400},
    {"40Gi", 42949672960, 42949672960000},
    {"81559Mi", 85520809984, 85520809984000},
    /* E is exa, or the exponent if a number follows */
    {"1E3", 1000, 1000000},
    {"1e3", 1000, 1000000},
    {"1E+3", 1000, 1000000},
    {"1E-3", 1, 1},
    {"1e0", 1, 1000},
    {"1e-0", 1, 1000},
    {"12.5e1", 125, 125000},
    {"1.3E+6", 1300000, 1300000000},
    {"0.5e-1", 1, 50},
    {"1e-400", 1, 1},
    {"0e2147483647", 0, 0},
    {"-1e-2147483647", -1, -1},
    /* rounds up, negative numbers away from zero */
    {"1.001", 2, 1001},
    {"1.0001", 2, 1001},
    {"-1.0001", -2, -1001},
    {"0.00000000000000000000000000000000000000000000000001", 1, 1},
    /* many digits */
    {"1.00000000000000000000000000000000000000000000000000", 1, 1000},
    {"00000000000000000000000000000000000000000000000012", 12, 12000},
    {"1234000000000000000000000n", 1234000000000000, 1234000000000000000},
    {"9223372036854775.807", 9223372036854776, 9223372036854775807},
    /* white space around a quantity */
    {" 1Gi\t\n", 1073741824, 1073741824000},
};

static void test_values_and_millis(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof NUMBERS / sizeof NUMBERS[0]; i++) {
        assert_number(NUMBERS[i].text, value_of(NUMBERS[i].text), NUMBERS[i].value);
        assert_number(NUMBERS[i].text, milli_of(NUMBERS[i].text), NUMBERS[i].milli);
    }
}

/* Writes a result like quantities.tsv. */
static void result_text(int r, int64_t value, char *text)
{
    (void)snprintf(text, 32, "%" PRId64, value);
    if (r != 0)
        (void)snprintf(text, 32, "%s", r == -ERANGE ? "over" : "error");
}

static void test_numbers_match_kubernetes(void **state)
{
    (void)state;
    struct tsv table = tsv_open("quantities.tsv");
    int n = 0;
    for (; tsv_next(&table, 3); n++) {
        int64_t value = 0;
        int64_t milli = 0;
        int value_r = quantity_value(table.columns[0], &value, NULL);
        int milli_r = quantity_milli(table.columns[0], &milli, NULL);
        char got[2][32];
        result_text(value_r, value, got[0]);
        result_text(milli_r, milli, got[1]);
        if (strcmp(got[0], table.columns[1]) != 0 || strcmp(got[1], table.columns[2]) != 0)
            fail_msg("%s: %s and %s, not %s and %s", table.columns[0], got[0], got[1],
                     table.columns[1], table.columns[2]);
    }
    assert_in_range(n, 300, 10000);
}

static void test_the_largest_numbers(void **state)
{
    (void)state;
    assert_number("1E", value_of("1E"), 1000000000000000000);
    assert_number("1Ei", value_of("1Ei"), 1152921504606846976);
    assert_number("7Ei", value_of("7Ei"), 8070450532247928832);
    assert_number("1e18", value_of("1e18"), 1000000000000000000);
    assert_number("9.2E", value_of("9.2E"), 9200000000000000000);
    assert_number("max", value_of("9223372036854775807"), INT64_MAX);
    assert_number("-max", value_of("-9223372036854775807"), -INT64_MAX);
    assert_number("max", value_of("9223372036854775806.5"), INT64_MAX);
    assert_number("max", value_of("9223372036854775807000m"), INT64_MAX);
    assert_number("max", value_of("9.223372036854775807E"), INT64_MAX);
    assert_number("max", milli_of("9223372036854775.807"), INT64_MAX);
    assert_number("Ei", value_of("7.99999999999999999913Ei"), INT64_MAX);
}

static void test_values_out_of_range_are_errors(void **state)
{
    (void)state;
    static const char *const CASES[] = {
        "9223372036854775808",
        "-9223372036854775808",
        "9223372036854775807.1",
        "8Ei",
        "9Ei",
        "10E",
        "1e19",
        "9.223372036854775808E",
        "9999999999999999999999999999999999999999",
        "18446744073709551616",
        "18446744073709551617Ki",
        "1e2147483647",
        "-1e2147483647",
        "16777216Ti",
        "7.99999999999999999999Ei",
        "0.00000000000000000001e40",
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct err err;
        int64_t value = 42;
        int r = quantity_value(CASES[i], &value, &err);
        assert_number(CASES[i], r, -ERANGE);
        assert_int_equal(value, 42);
        assert_non_null(strstr(err.text, CASES[i]));
        assert_non_null(strstr(err.text, "too large"));
    }
    int64_t value;
    assert_int_equal(quantity_milli("9223372036854775.808", &value, NULL), -ERANGE);
    assert_int_equal(quantity_milli("1E", &value, NULL), -ERANGE);
    assert_int_equal(quantity_whole("8Ei", &value, NULL), -ERANGE);
}

/* The quantity, and a part of the message. */
static void test_errors_name_the_expected_form(void **state)
{
    (void)state;
    static const char *const CASES[][2] = {
        {"", "\"\" is not a quantity: it must begin with a number, as in"},
        {"abc", "must begin with a number"},
        {"Gi", "must begin with a number"},
        {".", "must begin with a number"},
        {"-", "must begin with a number"},
        {"+.Ki", "must begin with a number"},
        {"--1", "must begin with a number"},
        {"1 Gi", "\" Gi\""},
        {"1.2.3", "no suffix \".3\"; the suffixes are n u m k M G T P E, Ki Mi Gi"},
        {"0x10", "no suffix \"x10\""},
        {"1,5", "no suffix \",5\""},
        {"40GB", "no suffix \"GB\"; did you mean \"G\"?"},
        {"40GiB", "did you mean \"Gi\"?"},
        {"40gb", "did you mean \"G\"?"},
        {"40gi", "did you mean \"Gi\"?"},
        {"40GI", "did you mean \"Gi\"?"},
        {"500MB", "did you mean \"M\"?"},
        {"500mb", "did you mean \"M\"?"},
        {"1K", "did you mean \"k\"?"},
        {"1ki", "did you mean \"Ki\"?"},
        {"5b", "no suffix \"b\"; the suffixes are"},
        {"1mm", "no suffix \"mm\""},
        {"1U", "no suffix \"U\"; the suffixes are"},
        {"1e", "no suffix \"e\""},
        {"1e+", "no suffix \"e+\""},
        {"1E-", "no suffix \"E-\""},
        {"1e3k", "no suffix \"e3k\""},
        {"1e3.5", "no suffix \"e3.5\""},
        {"1ee3", "no suffix \"ee3\""},
        {"1Ei3", "no suffix \"Ei3\""},
        {"1k3", "no suffix \"k3\""},
        {"1e2147483648", "exponent is out of range"},
        {"0e-99999999999999999999999", "exponent is out of range"},
        {"NaN", "must begin with a number"},
        {"inf", "must begin with a number"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct err err;
        int64_t value = 42;
        int r = quantity_value(CASES[i][0], &value, &err);
        assert_number(CASES[i][0], r, -EINVAL);
        assert_int_equal(value, 42);
        if (!strstr(err.text, CASES[i][1]))
            fail_msg("\"%s\" does not say: %s", err.text, CASES[i][1]);
        assert_int_equal(quantity_milli(CASES[i][0], &value, NULL), -EINVAL);
        assert_int_equal(quantity_whole(CASES[i][0], &value, NULL), -EINVAL);
    }
}

static void test_long_texts_are_shown_cut(void **state)
{
    (void)state;
    char text[1000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    struct err err;
    int64_t value;
    assert_int_equal(quantity_value(text, &value, &err), -EINVAL);
    assert_non_null(strstr(err.text, "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...\" is not"));
    memcpy(text + 38, "\xe2\x82\xac", 3); /* a euro sign at the limit is kept or dropped whole */
    assert_int_equal(quantity_value(text, &value, &err), -EINVAL);
    assert_non_null(strstr(err.text, "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...\" is not"));
    memset(text, '9', sizeof text - 1);
    assert_int_equal(quantity_value(text, &value, &err), -ERANGE);
    text[1] = '.';
    assert_number("9.999...", value_of(text), 10);
    memcpy(text + sizeof text - 3, "Ei", 3);
    assert_int_equal(quantity_value(text, &value, &err), -ERANGE);
    memset(text, '0', 996);
    assert_number("000...09Ei", quantity_value(text, &value, &err), -ERANGE);
    text[996] = '1';
    assert_number("000...01Ei", value_of(text), 1152921504606846976);
    text[0] = '.';
    assert_number("0.000...1Ei", value_of(text), 1);
}

static void test_counts_must_be_whole(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value; /* -1: rejected */
        const char *why;
    } CASES[] = {
        {"0", 0, ""},
        {"8", 8, ""},
        {"2000m", 2, ""},
        {"1k", 1000, ""},
        {"2.0", 2, ""},
        {"0.5Ki", 512, ""},
        {"1e1", 10, ""},
        {"15e-1", -1, "whole"},
        {"-0", 0, ""},
        {"-0.0m", 0, ""},
        {"1.5", -1, "whole"},
        {"500m", -1, "whole"},
        {"1n", -1, "whole"},
        {"-1", -1, "negative"},
        {"-1.5", -1, "negative"},
        {"-1e99", -1, "negative"},
        {"0.1Ki", -1, "whole"},
        {"1.0000000000000000000000000000001", -1, "whole"},
        {"1.0000000000000000000000000000000", 1, ""},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct err err = {""};
        int64_t value = -1;
        int r = quantity_whole(CASES[i].text, &value, &err);
        assert_number(CASES[i].text, value, CASES[i].value);
        assert_int_equal(r, CASES[i].value < 0 ? -EINVAL : 0);
        assert_non_null(strstr(err.text, CASES[i].why));
    }
}

static void test_bytes_are_printed_for_humans(void **state)
{
    (void)state;
    static const struct {
        int64_t bytes;
        const char *text;
    } CASES[] = {
        {0, "0"},
        {1000, "1000"},
        {1023, "1023"},
        {1024, "1Ki"},
        {1536, "1536"},
        {INT64_C(40) << 30, "40Gi"},
        {INT64_C(81559) << 20, "81559Mi"},
        {INT64_C(1) << 60, "1Ei"},
        {INT64_C(1024) << 40, "1Pi"},
        {-2048, "-2Ki"},
        {INT64_MAX, "9223372036854775807"},
        {INT64_MIN, "-8Ei"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char text[32];
        assert_string_equal(quantity_bytes_text(CASES[i].bytes, text), CASES[i].text);
    }
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 24;
}

static wide ceil_divide(wide number, wide divisor)
{
    return number / divisor + (number % divisor != 0);
}

/* digits / 10^n_fraction * 10^exponent * 2^shift as text, and in 128 bits: below 10^9 * 2^60 *
 * 10^3. */
static void test_random_quantities(void **state)
{
    (void)state;
    static const char *const SUFFIXES[] = {"",  "Ki", "Mi", "Gi", "Ti", "Pi", "Ei",
                                           "n", "u",  "m",  "k",  "M",  "e2", "E-4"};
    static const int EXPONENTS[] = {0, 0, 0, 0, 0, 0, 0, -9, -6, -3, 3, 6, 2, -4};
    uint64_t random = 7;
    for (int i = 0; i < 200000; i++) {
        unsigned n_fraction = (unsigned)(next_random(&random) % 9);
        unsigned kind = (unsigned)(next_random(&random) % 14);
        int64_t digits = (int64_t)(next_random(&random) % 1000000000);
        int64_t unit = 1;
        for (unsigned k = 0; k < n_fraction; k++)
            unit *= 10;
        char text[64];
        if (n_fraction > 0)
            (void)snprintf(text, sizeof text, "%" PRId64 ".%0*" PRId64 "%s", digits / unit,
                           (int)n_fraction, digits % unit, SUFFIXES[kind]);
        else
            (void)snprintf(text, sizeof text, "%" PRId64 "%s", digits, SUFFIXES[kind]);
        wide milli = (wide)digits * 1000 << (kind < 7 ? 10 * kind : 0);
        wide divisor = unit;
        for (int k = 0; k < EXPONENTS[kind]; k++)
            milli *= 10;
        for (int k = 0; k > EXPONENTS[kind]; k--)
            divisor *= 10;
        wide value = ceil_divide(milli, divisor * 1000);
        milli = ceil_divide(milli, divisor);
        int64_t got = -1;
        int r = quantity_value(text, &got, NULL);
        assert_number(text, r, value > INT64_MAX ? -ERANGE : 0);
        assert_number(text, got, value > INT64_MAX ? -1 : (int64_t)value);
        got = -1;
        r = quantity_milli(text, &got, NULL);
        assert_number(text, r, milli > INT64_MAX ? -ERANGE : 0);
        assert_number(text, got, milli > INT64_MAX ? -1 : (int64_t)milli);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_and_millis),
        cmocka_unit_test(test_numbers_match_kubernetes),
        cmocka_unit_test(test_the_largest_numbers),
        cmocka_unit_test(test_values_out_of_range_are_errors),
        cmocka_unit_test(test_errors_name_the_expected_form),
        cmocka_unit_test(test_long_texts_are_shown_cut),
        cmocka_unit_test(test_counts_must_be_whole),
        cmocka_unit_test(test_bytes_are_printed_for_humans),
        cmocka_unit_test(test_random_quantities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
