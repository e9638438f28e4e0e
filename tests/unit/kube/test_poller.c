/* poller: which sockets of a set are ready, for what, and the bell. */
#include "kube/transport/socket.h"

#include "unit.h"

#include <errno.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>

#define AT_ONCE 4
#define GENEROUS_MS 60000

struct pair {
    struct poller poller;
    int set, ours, theirs;
};

static int set_up(void **state)
{
    static struct pair pair;
    int fds[2];
    if (poller_init(&pair.poller) < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
        return -1;
    pair.set = poller_new_set(&pair.poller);
    pair.ours = fds[0];
    pair.theirs = fds[1];
    *state = &pair;
    return pair.set < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
    struct pair *pair = *state;
    (void)close(pair->ours);
    (void)close(pair->theirs);
    (void)close(pair->set);
    poller_fini(&pair->poller);
    return 0;
}

/* Our end is ready for just this. */
static void check_ready(const struct pair *pair, bool in, bool out, bool broken)
{
    struct poller_event events[AT_ONCE];
    assert_int_equal(poller_ready(pair->set, events, AT_ONCE), in || out || broken);
    if (!in && !out && !broken)
        return;
    assert_int_equal(events[0].fd, pair->ours);
    assert_int_equal(events[0].in, in);
    assert_int_equal(events[0].out, out);
    assert_int_equal(events[0].broken, broken);
}

static void write_byte(int fd)
{
    assert_int_equal(write(fd, "x", 1), 1);
}

static void a_socket_is_ready_for_what_it_is_watched_for(void **state)
{
    const struct pair *pair = *state;
    poller_watch(pair->set, pair->ours, true, false);
    check_ready(pair, false, false, false);
    write_byte(pair->theirs);
    check_ready(pair, true, false, false);
    poller_watch(pair->set, pair->ours, false, true);
    check_ready(pair, false, true, false);
    poller_watch(pair->set, pair->ours, true, true);
    check_ready(pair, true, true, false);
    poller_watch(pair->set, pair->ours, false, false);
    check_ready(pair, false, false, false);
}

static void an_end_that_is_closed_is_broken(void **state)
{
    struct pair *pair = *state;
    poller_watch(pair->set, pair->ours, true, false);
    assert_return_code(shutdown(pair->theirs, SHUT_RDWR), 0);
    check_ready(pair, true, false, true);
}

static void no_more_events_than_asked_for(void **state)
{
    struct pair *pair = *state;
    struct poller_event events[AT_ONCE];
    poller_watch(pair->set, pair->ours, false, true);
    poller_watch(pair->set, pair->theirs, false, true);
    assert_int_equal(poller_ready(pair->set, events, 1), 1);
    assert_int_equal(poller_ready(pair->set, events, 2), 2);
    assert_int_equal(poller_ready(pair->set, events, AT_ONCE), 2);
}

/* A wait without an end ends when a socket is ready. */
static void a_ready_socket_ends_the_wait(void **state)
{
    struct pair *pair = *state;
    poller_watch(pair->set, pair->ours, true, false);
    write_byte(pair->theirs);
    poller_wait(&pair->poller, -1);
    check_ready(pair, true, false, false);
}

/* However often it was rung before, the bell ends one wait. */
static void the_bell_ends_one_wait(void **state)
{
    struct pair *pair = *state;
    struct poller_event events[AT_ONCE];
    poller_ring(&pair->poller);
    poller_ring(&pair->poller);
    poller_wait(&pair->poller, GENEROUS_MS);
    assert_int_equal(poller_ready(pair->poller.epoll_fd, events, AT_ONCE), 0);
    poller_wait(&pair->poller, 0);
}

static int lowest_free_fd(const struct pair *pair)
{
    const int fd = dup(pair->ours);
    assert_return_code(fd, errno);
    assert_return_code(close(fd), errno);
    return fd;
}

static void a_set_that_nobody_can_wait_for_leaves_no_descriptor(void **state)
{
    const struct pair *pair = *state;
    struct poller none = {.epoll_fd = -1, .bell_fd = -1};
    const int before = lowest_free_fd(pair);
    assert_int_equal(poller_new_set(&none), -EBADF);
    assert_int_equal(lowest_free_fd(pair), before);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_socket_is_ready_for_what_it_is_watched_for),
        TEST(an_end_that_is_closed_is_broken),
        TEST(no_more_events_than_asked_for),
        TEST(a_ready_socket_ends_the_wait),
        TEST(the_bell_ends_one_wait),
        TEST(a_set_that_nobody_can_wait_for_leaves_no_descriptor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
