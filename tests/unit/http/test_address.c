/* address: the network of a client. (Addresses to listen on: test_server.c.) */
#include "transport.h"
#include "unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>

static uint64_t network_of(const char *text)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(40000)};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(40000)};
    if (inet_pton(AF_INET, text, &in.sin_addr) == 1)
        return address_network((const struct sockaddr *)&in);
    assert_int_equal(inet_pton(AF_INET6, text, &in6.sin6_addr), 1);
    return address_network((const struct sockaddr *)&in6);
}

static void test_network_of_an_address(void **state)
{
    (void)state;
    assert_int_equal(network_of("10.0.1.2"), 0x0a000102);
    assert_int_equal(network_of("::ffff:10.0.1.2"), 0x0a000102); /* on [::] */
    assert_int_equal(network_of("2001:db8:1:2::3"), 0x20010db800010002);
    assert_int_equal(network_of("2001:db8:1:2:ffff:ffff:ffff:ffff"), 0x20010db800010002);
    assert_int_equal(network_of("::1"), 0);
    const struct sockaddr other = {.sa_family = AF_UNIX};
    assert_int_equal(address_network(&other), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_network_of_an_address)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
