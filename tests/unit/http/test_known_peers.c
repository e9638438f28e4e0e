/* known_peers: how long a peer is known, and eviction. */
#include "known_peers.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

static const char *const ORGANIZATIONS[] = {"one", "two", NULL};
static const struct exchange_peer PEER = {"somebody", ORGANIZATIONS};
static const char *const NONE[] = {NULL};

struct fixture {
    struct known_peers known;
    struct arena *arena;
};

static int start(void **state)
{
    static struct fixture fixture;
    known_peers_init(&fixture.known);
    fixture.arena = arena_new();
    *state = &fixture;
    return 0;
}

static int stop(void **state)
{
    struct fixture *fixture = *state;
    known_peers_fini(&fixture->known);
    arena_free(fixture->arena);
    return 0;
}

static const struct exchange_peer *find(struct fixture *fixture, const char *certificate,
                                        int64_t now)
{
    return known_peers_find(&fixture->known, certificate, strlen(certificate), now, fixture->arena);
}

static void add(struct fixture *fixture, const char *certificate, const char *name, int64_t until)
{
    const struct exchange_peer peer = {name, NONE};
    known_peers_add(&fixture->known, certificate, strlen(certificate), &peer, until);
}

static void test_a_peer_is_known_until_it_expires(void **state)
{
    struct fixture *fixture = *state;
    assert_null(find(fixture, "certificate", 0));
    known_peers_add(&fixture->known, "certificate", strlen("certificate"), &PEER, 100);
    const struct exchange_peer *peer = find(fixture, "certificate", 99);
    assert_non_null(peer);
    assert_string_equal(peer->common_name, "somebody");
    assert_string_equal(peer->organizations[0], "one");
    assert_string_equal(peer->organizations[1], "two");
    assert_null(peer->organizations[2]);
    assert_null(find(fixture, "certificate", 100));
}

static void test_only_the_identical_certificate_is_known(void **state)
{
    struct fixture *fixture = *state;
    add(fixture, "certificate", "somebody", 100);
    assert_null(find(fixture, "certificatE", 0));
    assert_null(find(fixture, "certificate2", 0));
    assert_null(find(fixture, "certificat", 0));
    assert_null(find(fixture, "", 0));
}

static void test_adding_a_peer_again_extends_its_time(void **state)
{
    struct fixture *fixture = *state;
    add(fixture, "certificate", "old", 100);
    add(fixture, "certificate", "new", 200);
    assert_string_equal(find(fixture, "certificate", 150)->common_name, "new");
    for (int i = 1; i < KNOWN_PEERS_MAX; i++) {
        char certificate[16];
        (void)snprintf(certificate, sizeof certificate, "%d", i);
        add(fixture, certificate, certificate, 200);
    }
    assert_non_null(find(fixture, "certificate", 150)); /* it had only one slot */
}

static void test_the_first_peer_is_evicted(void **state)
{
    struct fixture *fixture = *state;
    char certificate[16];
    for (int i = 0; i < KNOWN_PEERS_MAX + 2; i++) {
        (void)snprintf(certificate, sizeof certificate, "%d", i);
        add(fixture, certificate, certificate, 100);
    }
    assert_null(find(fixture, "0", 0));
    assert_null(find(fixture, "1", 0));
    assert_string_equal(find(fixture, "2", 0)->common_name, "2");
    assert_string_equal(find(fixture, certificate, 0)->common_name, certificate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_peer_is_known_until_it_expires, start, stop),
        cmocka_unit_test_setup_teardown(test_only_the_identical_certificate_is_known, start, stop),
        cmocka_unit_test_setup_teardown(test_adding_a_peer_again_extends_its_time, start, stop),
        cmocka_unit_test_setup_teardown(test_the_first_peer_is_evicted, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
