/* scheduler_url: urlPrefix of an extender, taken apart. */
#include "scheduler_checks.h"
#include "unit.h"

static void test_urls(void **state)
{
    (void)state;
    static const struct {
        const char *text, *host, *path;
        long port;
        int https, is_ours;
    } RIGHT[] = {
        {"http://127.0.0.1:8888/scheduler", "127.0.0.1", "/scheduler", 8888, 0, 1},
        {"https://a.b.svc:8443/scheduler//", "a.b.svc", "/scheduler//", 8443, 1, 1},
        {"https://[::1]:1/x/scheduler", "::1", "/x/scheduler", 1, 1, 1},
        {"https://[fd00::1]", "fd00::1", "", 443, 1, 0},
        {"http://a", "a", "", 80, 0, 0},
        {"http://a/schedulers", "a", "/schedulers", 80, 0, 0},
        {"http://a/", "a", "/", 80, 0, 0},
    };
    for (size_t i = 0; i < sizeof RIGHT / sizeof *RIGHT; i++) {
        struct scheduler_url url;
        assert_true(scheduler_url_parse(RIGHT[i].text, &url));
        assert_string_equal(url.host, RIGHT[i].host);
        assert_string_equal(url.path, RIGHT[i].path);
        assert_int_equal(url.port, RIGHT[i].port);
        assert_int_equal(url.https, RIGHT[i].https);
        assert_int_equal(scheduler_url_is_ours(&url), RIGHT[i].is_ours);
    }
}

static void test_no_urls(void **state)
{
    (void)state;
    static const char *const WRONG[] = {"",
                                        "a:8888/scheduler",
                                        "ftp://a/scheduler",
                                        "http://",
                                        "http:///scheduler",
                                        "http://a:/scheduler",
                                        "http://a:x/scheduler",
                                        "http://a:99999/scheduler",
                                        "http://a:123456789/scheduler",
                                        "http://[::1/scheduler",
                                        "http://[]:1/scheduler",
                                        "http://u@a/scheduler",
                                        "http://a/scheduler?x"};
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        struct scheduler_url url;
        assert_false(scheduler_url_parse(WRONG[i], &url));
    }
}

static void test_addresses(void **state)
{
    (void)state;
    char host[SCHEDULER_HOST_MAX];
    long port = 0;
    scheduler_address_split("127.0.0.1:8888", host, &port);
    assert_string_equal(host, "127.0.0.1");
    assert_int_equal(port, 8888);
    scheduler_address_split("[::1]:8443", host, &port);
    assert_string_equal(host, "::1");
    assert_int_equal(port, 8443);
    assert_true(scheduler_host_is_local("localhost") && scheduler_host_is_local("127.1.2.3") &&
                scheduler_host_is_local("::1"));
    assert_false(scheduler_host_is_local("0.0.0.0") || scheduler_host_is_local("10.0.0.1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_urls), cmocka_unit_test(test_no_urls),
                                       cmocka_unit_test(test_addresses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
