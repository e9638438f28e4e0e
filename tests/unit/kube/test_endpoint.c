/* Addresses of requests, derived from a target. */
#include "kube/transport/socket.h"

#include "base/mem.h"
#include "unit.h"

static void expect_text(const char *found, const char *expected)
{
    if (expected)
        assert_string_equal(found ? found : "none", expected);
    else
        assert_null(found);
}

struct wanted {
    const char *base_url, *connect_to, *host;
    bool tls, loopback;
};

static void expect(const char *server, const char *name, const struct wanted *wanted)
{
    char *server_text CLEANUP(mem_free_ptr) = mem_strdup(server);
    char *name_text CLEANUP(mem_free_ptr) = name ? mem_strdup(name) : NULL;
    const struct kube_target target = {.server = server_text, .tls_server_name = name_text};
    struct endpoint endpoint;
    endpoint_init(&endpoint, &target);
    expect_text(endpoint.base_url, wanted->base_url);
    expect_text(endpoint.connect_to, wanted->connect_to);
    expect_text(endpoint.host, wanted->host);
    assert_int_equal(endpoint.tls, wanted->tls);
    assert_int_equal(endpoint.loopback, wanted->loopback);
    endpoint_fini(&endpoint);
}

static void expect_same(const char *server, const char *name, bool tls, bool loopback)
{
    expect(server, name, &(struct wanted){server, NULL, NULL, tls, loopback});
}

static void a_url_stays_unchanged(void **state)
{
    (void)state;
    expect_same("http://10.0.0.1:8001", NULL, false, false);
    expect_same("HTTPS://api.example/k8s/c-1", NULL, true, false);
}

static void a_tls_server_name_replaces_the_host(void **state)
{
    (void)state;
    expect("https://10.0.0.1:6443", "kubernetes.default",
           &(struct wanted){"https://kubernetes.default:6443", "::10.0.0.1:6443", "10.0.0.1:6443",
                            true, false});
    expect("https://[fd00::1]:6443/k8s/c-1", "kubernetes.default",
           &(struct wanted){"https://kubernetes.default:6443/k8s/c-1", "::[fd00::1]:6443",
                            "[fd00::1]:6443", true, false});
    expect("https://10.0.0.1", "fd00::2",
           &(struct wanted){"https://[fd00::2]", "::10.0.0.1:", "10.0.0.1", true, false});
    expect_same("http://10.0.0.1:8001", "kubernetes.default", false, false);
}

static void loopback_is_known(void **state)
{
    (void)state;
    expect_same("http://127.0.0.1:80", NULL, false, true);
    expect_same("http://127.9.9.9", NULL, false, true);
    expect_same("https://[::1]:6443", NULL, true, true);
    expect_same("http://LocalHost/x", NULL, false, true);
    expect_same("http://127.0.0.1.example", NULL, false, false);
    expect_same("http://[::2]", NULL, false, false);
    expect_same("http://128.0.0.1:80", NULL, false, false);
    expect_same("http://localhost.example", NULL, false, false);
}

static void expect_proxy(const char *input, const char *wanted)
{
    char server[] = "https://h";
    char *proxy CLEANUP(mem_free_ptr) = input ? mem_strdup(input) : NULL;
    const struct kube_target target = {.server = server, .proxy_url = proxy};
    struct endpoint endpoint;
    endpoint_init(&endpoint, &target);
    expect_text(endpoint.proxy, wanted);
    endpoint_fini(&endpoint);
}

static void a_socks_proxy_resolves_the_server_name(void **state)
{
    (void)state;
    expect_proxy(NULL, NULL);
    expect_proxy("http://10.0.0.1:3128", "http://10.0.0.1:3128");
    expect_proxy("https://10.0.0.1:3128", "https://10.0.0.1:3128");
    expect_proxy("socks5://user:pass@10.0.0.1", "socks5h://user:pass@10.0.0.1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_url_stays_unchanged),
        cmocka_unit_test(a_tls_server_name_replaces_the_host),
        cmocka_unit_test(loopback_is_known),
        cmocka_unit_test(a_socks_proxy_resolves_the_server_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
