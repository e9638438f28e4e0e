/* syntax: addresses, resource names, label keys, drivers, aliases. */
#include "config/syntax.h"
#include "unit.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define NAME_63 "a23456789012345678901234567890123456789012345678901234567890123"
#define NAME_64 "4a23456789012345678901234567890123456789012345678901234567890123"
#define RESOURCE_63 "x.y/a23456789012345678901234567890123456789012345678901234567890123"
#define RESOURCE_64 "x.y/4a23456789012345678901234567890123456789012345678901234567890123"
#define PREFIX_64 "x.y/a23456789012345678901234567890123456789012345678901234567890123*"

/* NULL ends both lists. */
static void assert_judged(syntax_check *check, const char *const *right, const char *const *wrong)
{
    for (; *right; right++) {
        if (check(*right))
            fail_msg("\"%s\" was refused: should be %s", *right, check(*right));
    }
    for (; *wrong; wrong++) {
        if (!check(*wrong))
            fail_msg("\"%s\" was not refused", *wrong);
    }
}

static void test_addresses(void **state)
{
    (void)state;
    static const char *const RIGHT[] = {"127.0.0.1:8888",   "0.0.0.0:0",           "[::1]:65535",
                                        "[2001:db8::7]:80", "[::ffff:10.0.0.1]:1", NULL};
    static const char *const WRONG[] = {"",
                                        "8888",
                                        ":8888",
                                        "127.0.0.1",
                                        "127.0.0.1:",
                                        "localhost:1",
                                        "127.0.0.1:65536",
                                        "127.0.0.1:-1",
                                        "127.0.0.1:08888",
                                        "127.0.0.1:1x",
                                        "127.0.1:1",
                                        "256.0.0.1:1",
                                        "::1:8888",
                                        "[::1]",
                                        "[::1:8888",
                                        "[::1]8888",
                                        "[127.0.0.1]:1",
                                        "[fe80::1%lo]:1",
                                        "[]:1",
                                        " 127.0.0.1:1",
                                        "127.0.0.1:99999999999999999999",
                                        "[1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa]:1",
                                        NULL};
    assert_judged(syntax_address, RIGHT, WRONG);
}

static void test_resource_names(void **state)
{
    (void)state;
    static const char *const RIGHT[] = {"nvidia.com/gpu",
                                        "alpha.kubernetes.io/nvidia-gpu",
                                        "nvidia.com/mig-*",
                                        "a/b",
                                        "a/*",
                                        RESOURCE_63,
                                        NULL};
    static const char *const WRONG[] = {"",
                                        "gpu",
                                        "/gpu",
                                        "nvidia.com/",
                                        "nvidia.com/mig*x",
                                        "*",
                                        "*/gpu",
                                        "a*/gpu",
                                        "nvidia.com/**",
                                        "nvidia.com/-gpu",
                                        "nvidia.com/gpu-",
                                        "a/b/c",
                                        "a/b c",
                                        "NVIDIA.com/gpu",
                                        "-a.com/gpu",
                                        "a-.com/g",
                                        "a..b/gpu",
                                        ".a/gpu",
                                        "a./gpu",
                                        "a/g\xc3\xa9",
                                        "nvidia.com/-*",
                                        RESOURCE_64,
                                        PREFIX_64,
                                        NULL};
    assert_judged(syntax_resource, RIGHT, WRONG);
}

static void test_label_keys(void **state)
{
    (void)state;
    static const char *const RIGHT[] = {
        "accelerator", "nvidia.com/gpu.product", "A_b.c-d", "a/b", NAME_63, NULL};
    static const char *const WRONG[] = {"",      "a b",     "nvidia.com/", "/gpu", "gpu.",
                                        "a/b/c", "A.com/b", "mig-*",       "_a",   "a=b",
                                        NAME_64, "a:b",     NULL};
    assert_judged(syntax_label_key, RIGHT, WRONG);
    char domain[300];
    (void)snprintf(domain, sizeof domain, "%0253d/name", 0);
    assert_null(syntax_label_key(domain));
    (void)snprintf(domain, sizeof domain, "%0254d/name", 0);
    assert_non_null(syntax_label_key(domain));
}

static void test_drivers_and_attributes(void **state)
{
    (void)state;
    static const char *const DRIVERS[] = {"gpu.nvidia.com", "x", "0.a-b", NAME_63, NULL};
    static const char *const NO_DRIVERS[] = {"",    ".",   "a.",    "-a", "Gpu",
                                             "a/b", "a_b", NAME_64, NULL};
    static const char *const ATTRIBUTES[] = {"productName", "_", "a2",
                                             "a2345678901234567890123456789012", NULL};
    static const char *const NO_ATTRIBUTES[] = {
        "", "2a", "a-b", "a/b", "a.b", "a23456789012345678901234567890123", NULL};
    assert_judged(syntax_driver, DRIVERS, NO_DRIVERS);
    assert_judged(syntax_attribute, ATTRIBUTES, NO_ATTRIBUTES);
}

static void test_aliases_and_models(void **state)
{
    (void)state;
    static const char *const ALIASES[] = {"gpu-large", "rack 12 special", "nvidia", "7", NULL};
    static const char *const NO_ALIASES[] = {"",     " ",           "--",    "a\n",
                                             "a\tb", "caf\xc3\xa9", "a\x7f", NULL};
    assert_judged(syntax_alias, ALIASES, NO_ALIASES);
    static const char *const MODELS[] = {"A100-80GB", "Tesla K80", "RTX-3090-Ti", "MI300X", NULL};
    static const char *const NO_MODELS[] = {"", "nvidia", "NVIDIA Tesla", "A100\n", NULL};
    assert_judged(syntax_model, MODELS, NO_MODELS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses),          cmocka_unit_test(test_resource_names),
        cmocka_unit_test(test_label_keys),         cmocka_unit_test(test_drivers_and_attributes),
        cmocka_unit_test(test_aliases_and_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
