/* known_peers: how long a peer is known, and eviction. */
#include "known_peers.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

static const char *const ORGANIZATIONS[] = {"one", "two", NULL};
static const struct exchange_peer PEER = {"somebody", ORGANIZATIONS};
static const char *const NONE[] = {NULL};

struct stage {
    struct known_peers known;
    struct arena *arena;
};

static int start(void **state)
{
    static struct stage stage;
    known_peers_init(&stage.known);
    stage.arena = arena_new();
    *state = &stage;
    return 0;
}

static int stop(void **state)
{
    struct stage *stage = *state;
    known_peers_fini(&stage->known);
    arena_free(stage->arena);
    return 0;
}

static const struct exchange_peer *find(struct stage *stage, const char *certificate, int64_t now)
{
    return known_peers_find(&stage->known, certificate, strlen(certificate), now, stage->arena);
}

static void add(struct stage *stage, const char *certificate, const char *name, int64_t until)
{
    const struct exchange_peer peer = {name, NONE};
    known_peers_add(&stage->known, certificate, strlen(certificate), &peer, until);
}

static void test_a_peer_is_known_until_its_time(void **state)
{
    struct stage *stage = *state;
    assert_null(find(stage, "certificate", 0));
    known_peers_add(&stage->known, "certificate", strlen("certificate"), &PEER, 100);
    const struct exchange_peer *peer = find(stage, "certificate", 99);
    assert_non_null(peer);
    assert_string_equal(peer->common_name, "somebody");
    assert_string_equal(peer->organizations[0], "one");
    assert_string_equal(peer->organizations[1], "two");
    assert_null(peer->organizations[2]);
    assert_null(find(stage, "certificate", 100));
}

static void test_only_the_very_certificate_is_known(void **state)
{
    struct stage *stage = *state;
    add(stage, "certificate", "somebody", 100);
    assert_null(find(stage, "certificatE", 0));
    assert_null(find(stage, "certificate2", 0));
    assert_null(find(stage, "certificat", 0));
    assert_null(find(stage, "", 0));
}

static void test_who_is_added_again_is_known_longer(void **state)
{
    struct stage *stage = *state;
    add(stage, "certificate", "old", 100);
    add(stage, "certificate", "new", 200);
    assert_string_equal(find(stage, "certificate", 150)->common_name, "new");
    for (int i = 1; i < KNOWN_PEERS_MAX; i++) {
        char certificate[16];
        (void)snprintf(certificate, sizeof certificate, "%d", i);
        add(stage, certificate, certificate, 200);
    }
    assert_non_null(find(stage, "certificate", 150)); /* it had only one slot */
}

static void test_who_was_first_makes_place(void **state)
{
    struct stage *stage = *state;
    char certificate[16];
    for (int i = 0; i < KNOWN_PEERS_MAX + 2; i++) {
        (void)snprintf(certificate, sizeof certificate, "%d", i);
        add(stage, certificate, certificate, 100);
    }
    assert_null(find(stage, "0", 0));
    assert_null(find(stage, "1", 0));
    assert_string_equal(find(stage, "2", 0)->common_name, "2");
    assert_string_equal(find(stage, certificate, 0)->common_name, certificate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_peer_is_known_until_its_time, start, stop),
        cmocka_unit_test_setup_teardown(test_only_the_very_certificate_is_known, start, stop),
        cmocka_unit_test_setup_teardown(test_who_is_added_again_is_known_longer, start, stop),
        cmocka_unit_test_setup_teardown(test_who_was_first_makes_place, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
