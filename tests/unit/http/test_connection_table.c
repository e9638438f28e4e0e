/* connection_table: which connections must close, by a fake clock and fake byte counts. */
#include "base/clock.h"
#include "connection_table.h"
#include "unit.h"

#include <string.h>

#define REQUEST_MS 1000
#define SILENCE_MS ((int64_t)5000)
#define STRANGER_MS 1000 /* as in connection_table.c */
#define PLACES 100
#define N_MOST 128

/* A table of up to N_MOST connections; all events happen at now_ms. */
struct world {
    struct connection_table table;
    struct connection connections[N_MOST];
    struct connection_bytes bytes[N_MOST];
    size_t n;
    int64_t now_ms;
};

static int make(void **state)
{
    static struct world world;
    memset(&world, 0, sizeof world);
    world.table.limits = (struct connection_limits){
        .places = PLACES, .request_ms = REQUEST_MS, .silence_ms = SILENCE_MS};
    world.now_ms = 1;
    *state = &world;
    return 0;
}

static size_t come(struct world *world)
{
    assert_true(world->n < N_MOST);
    connection_table_add(&world->table, &world->connections[world->n], world->now_ms);
    return world->n++;
}

/* The connection evicted by crowding at that time; -1: none. */
static int crowd_out(struct world *world, int64_t now_ms)
{
    struct connection *out = connection_table_crowd_out(&world->table, now_ms);
    if (!out)
        return -1;
    assert_int_equal(out->ended, CONNECTION_CROWDED);
    return (int)(out - world->connections);
}

static void begin_as(struct world *world, size_t i, uint64_t client)
{
    connection_table_begin(&world->table, &world->connections[i], world->now_ms, client);
}

static void begin(struct world *world, size_t i)
{
    begin_as(world, i, 0);
}

static bool complete(struct world *world, size_t i)
{
    return connection_table_complete(&world->connections[i], world->bytes[i]);
}

static bool answer(struct world *world, size_t i)
{
    assert_true(complete(world, i));
    return connection_table_answer(&world->table, &world->connections[i], world->now_ms);
}

static bool rest(struct world *world, size_t i, uint64_t client)
{
    return connection_table_rest(&world->table, &world->connections[i], client);
}

static bool close_quiet(struct world *world, size_t i)
{
    return connection_table_close_quiet(&world->table, &world->connections[i], world->now_ms,
                                        world->bytes[i]);
}

static void ask(struct world *world, size_t i, uint64_t client)
{
    world->bytes[i].received += 100;
    begin(world, i);
    (void)answer(world, i);
    assert_false(rest(world, i, client));
}

/* Why the connection ends when examined at that time. */
static enum connection_end seen_at(struct world *world, size_t i, int64_t now_ms)
{
    struct connection *connection = &world->connections[i];
    world->now_ms = now_ms;
    bool is_over = connection_table_judge(&world->table, connection, now_ms, world->bytes[i]);
    assert_int_equal(is_over, connection->ended != CONNECTION_NOT_ENDED);
    if (is_over) /* reported only once */
        assert_false(
            connection_table_judge(&world->table, connection, CLOCK_NEVER, world->bytes[i]));
    return connection->ended;
}

static void test_a_silent_connection_is_closed(void **state)
{
    struct world *world = *state;
    size_t i = come(world);
    assert_int_equal(seen_at(world, i, SILENCE_MS), CONNECTION_NOT_ENDED);
    assert_int_equal(seen_at(world, i, SILENCE_MS + 1), CONNECTION_SILENT);
}

static void test_a_header_is_timed_from_its_first_byte(void **state)
{
    struct world *world = *state;
    size_t i = come(world);
    world->bytes[i].received = 1;
    assert_int_equal(seen_at(world, i, 501), CONNECTION_NOT_ENDED);
    for (int64_t at = 600; at < 501 + REQUEST_MS; at += 100) { /* single bytes do not help */
        world->bytes[i].received++;
        assert_int_equal(seen_at(world, i, at), CONNECTION_NOT_ENDED);
    }
    assert_int_equal(seen_at(world, i, 501 + REQUEST_MS), CONNECTION_SLOW_REQUEST);
}

static void test_the_handshake_and_the_first_request_have_separate_times(void **state)
{
    struct world *world = *state;
    world->table.limits.has_handshake = true;
    size_t slow = come(world);
    size_t i = come(world);
    world->bytes[slow].received = world->bytes[i].received = 300;
    assert_int_equal(seen_at(world, i, 501), CONNECTION_NOT_ENDED);
    world->bytes[i].has_more_to_take = true;
    connection_table_greet(&world->table, &world->connections[i], 501, world->bytes[i]);
    assert_int_equal(seen_at(world, i, 502), CONNECTION_NOT_ENDED);
    world->bytes[i].has_more_to_take = false;
    assert_int_equal(seen_at(world, slow, REQUEST_MS), CONNECTION_NOT_ENDED);
    assert_int_equal(seen_at(world, slow, 1 + REQUEST_MS), CONNECTION_SLOW_REQUEST);
    assert_int_equal(seen_at(world, i, 500 + SILENCE_MS), CONNECTION_NOT_ENDED);
    assert_int_equal(seen_at(world, i, 501 + SILENCE_MS), CONNECTION_SILENT);
}

static void test_a_body_has_the_time_left_by_the_header(void **state)
{
    struct world *world = *state;
    size_t i = come(world);
    world->bytes[i].received = 1;
    (void)seen_at(world, i, 501);
    world->now_ms = 1000;
    begin(world, i);
    assert_int_equal(seen_at(world, i, 500 + REQUEST_MS), CONNECTION_NOT_ENDED);
    assert_int_equal(seen_at(world, i, 501 + REQUEST_MS), CONNECTION_SLOW_REQUEST);
}

/* It will never be complete. It only waits until its last bytes are seen. */
static void test_an_aborted_request_is_closed_early(void **state)
{
    struct world *world = *state;
    world->table.limits.request_ms = (int64_t)30 * REQUEST_MS;
    size_t header = come(world);
    size_t body = come(world);
    size_t whole = come(world);
    size_t served = come(world);
    world->bytes[header].received = world->bytes[body].received = 10;
    begin(world, body);
    begin(world, whole);
    ask(world, served, 1);
    for (size_t i = header; i <= served; i++) {
        world->bytes[i].has_no_more = true;
        assert_int_equal(seen_at(world, i, 5000), CONNECTION_NOT_ENDED);
        assert_int_equal(seen_at(world, i, 5999), CONNECTION_NOT_ENDED);
    }
    assert_true(complete(world, whole));
    assert_int_equal(seen_at(world, header, 6000), CONNECTION_SLOW_REQUEST);
    assert_int_equal(seen_at(world, body, 6000), CONNECTION_SLOW_REQUEST);
    assert_int_equal(seen_at(world, whole, 60000), CONNECTION_NOT_ENDED);
    assert_int_equal(seen_at(world, served, 60000), CONNECTION_NOT_ENDED); /* the library sees it */
}

/* It gets no more time than others. */
static void test_an_aborted_request_gets_no_extra_time(void **state)
{
    struct world *world = *state;
    size_t i = come(world);
    begin(world, i);
    world->bytes[i].has_no_more = true;
    assert_int_equal(seen_at(world, i, REQUEST_MS), CONNECTION_NOT_ENDED);
    assert_int_equal(seen_at(world, i, 1 + REQUEST_MS), CONNECTION_SLOW_REQUEST);
}

/* The header began while the previous request was being answered. */
static void test_a_header_begun_during_an_answer_has_its_full_time(void **state)
{
    struct world *world = *state;
    size_t i = come(world);
    world->bytes[i].received = 100;
    begin(world, i);
    assert_true(complete(world, i));
    world->bytes[i].received++;
    assert_true(complete(world, i)); /* again, with the answer ready */
    (void)connection_table_answer(&world->table, &world->connections[i], 1);
    assert_false(rest(world, i, 1));
    assert_int_equal(seen_at(world, i, 500), CONNECTION_NOT_ENDED);
    assert_int_equal(seen_at(world, i, 500 + REQUEST_MS), CONNECTION_SLOW_REQUEST);
}

/* The last byte came while the connection was being closed, so no answer could be delivered. */
static void test_a_request_completed_too_late_is_not_run(void **state)
{
    struct world *world = *state;
    size_t i = come(world);
    begin(world, i);
    assert_int_equal(seen_at(world, i, 1 + REQUEST_MS), CONNECTION_SLOW_REQUEST);
    assert_false(complete(world, i));
}

static void test_a_client_waiting_for_its_answer_is_not_late(void **state)
{
    struct world *world = *state;
    size_t i = come(world);
    begin(world, i);
    assert_true(complete(world, i));
    assert_int_equal(seen_at(world, i, CLOCK_NEVER - 1), CONNECTION_NOT_ENDED);
}

static void test_a_served_connection_may_stay_idle(void **state)
{
    struct world *world = *state;
    size_t i = come(world);
    ask(world, i, 0);
    assert_int_equal(seen_at(world, i, 1000 * SILENCE_MS), CONNECTION_NOT_ENDED);
    world->bytes[i].received++; /* the next request begins with its own time */
    assert_int_equal(seen_at(world, i, 1001 * SILENCE_MS), CONNECTION_NOT_ENDED);
    assert_int_equal(seen_at(world, i, 1001 * SILENCE_MS + REQUEST_MS), CONNECTION_SLOW_REQUEST);
}

static void test_an_answer_must_be_read_at_a_minimum_rate(void **state)
{
    struct world *world = *state;
    const uint64_t least = ANSWER_BYTES_PER_S; /* within REQUEST_MS */
    size_t i = come(world);
    begin(world, i);
    assert_false(answer(world, i));
    for (int64_t at = 1; at < 10; at++) {
        assert_int_equal(seen_at(world, i, at * REQUEST_MS), CONNECTION_NOT_ENDED);
        world->bytes[i].taken += least;
        assert_int_equal(seen_at(world, i, at * REQUEST_MS + 1), CONNECTION_NOT_ENDED);
    }
    world->bytes[i].taken += least - 1;
    assert_int_equal(seen_at(world, i, 10 * REQUEST_MS + 1), CONNECTION_SLOW_READER);
}

/* The kernel takes a small answer at once, so the library is done with it. */
static void test_an_answer_in_kernel_buffers_is_timed(void **state)
{
    struct world *world = *state;
    size_t i = come(world);
    size_t other = come(world);
    ask(world, i, 1);
    ask(world, other, 1);
    world->bytes[i].has_more_to_take = true;
    assert_int_equal(seen_at(world, i, REQUEST_MS), CONNECTION_NOT_ENDED);
    assert_int_equal(seen_at(world, i, 1 + REQUEST_MS), CONNECTION_SLOW_READER);
    assert_int_equal(seen_at(world, other, 1 + REQUEST_MS), CONNECTION_NOT_ENDED);
}

#define OLD 1000 /* ms: a younger one is not yet a stranger */

static void fill(struct world *world, size_t n)
{
    while (world->n < n)
        (void)come(world);
}

static void test_the_oldest_unknown_connections_are_evicted_first(void **state)
{
    struct world *world = *state;
    fill(world, PLACES * 7 / 8 + 1);
    assert_false(connection_table_is_crowded(&world->table));
    assert_int_equal(crowd_out(world, 1 + OLD), -1);
    ask(world, 0, 0); /* rejected, so still a stranger */
    begin(world, 1);
    fill(world, PLACES * 7 / 8 + 4);
    assert_true(connection_table_is_crowded(&world->table));
    assert_int_equal(crowd_out(world, 1 + OLD), 0);
    assert_int_equal(crowd_out(world, 1 + OLD), 1);
    connection_table_remove(&world->table, &world->connections[0]); /* makes no room twice */
    assert_int_equal(crowd_out(world, 1 + OLD), 2);
    assert_int_equal(crowd_out(world, 1 + OLD), -1);
    fill(world, PLACES * 7 / 8 + 5);
    connection_table_remove(&world->table, &world->connections[20]); /* closed by itself */
    assert_int_equal(crowd_out(world, 1 + OLD), -1);
}

static void test_a_new_connection_has_time_to_identify_itself(void **state)
{
    struct world *world = *state;
    fill(world, PLACES);
    assert_int_equal(crowd_out(world, OLD), -1);
    assert_int_equal(crowd_out(world, 1 + OLD), 0);
}

static void test_a_connection_once_admitted_counts_as_known(void **state)
{
    struct world *world = *state;
    fill(world, PLACES);
    for (size_t i = 0; i < PLACES - 2; i++) {
        if (i % 2 == 0)
            begin_as(world, i, 1); /* known by its header */
        else
            ask(world, i, 1); /* known by its gate's review */
        ask(world, i, 0);
    }
    assert_int_equal(crowd_out(world, 1 + OLD), PLACES - 2);
    assert_int_equal(crowd_out(world, 1 + OLD), PLACES - 1);
    assert_int_equal(crowd_out(world, 1 + OLD), -1);
}

#define SHARE 25

/* Strangers of a network that has many, even new ones; others only when they are old. */
static void test_one_network_gets_a_share_of_the_places(void **state)
{
    struct world *world = *state;
    world->table.limits.share = SHARE;
    for (size_t i = 0; i < PLACES; i++) {
        world->connections[i].network = i < 2 ? i : i % 3 == 0 ? 100 : 200 + i;
        (void)come(world);
    }
    int out = crowd_out(world, OLD);
    for (size_t i = 3; out >= 0; i += 3, out = crowd_out(world, OLD))
        assert_int_equal(out, i);
    size_t n_left = 0;
    for (size_t i = 3; i < PLACES; i += 3)
        n_left += world->connections[i].ended == CONNECTION_NOT_ENDED;
    assert_int_equal(n_left, SHARE);
    assert_int_equal(crowd_out(world, 1 + OLD), 0);
}

/* Known ones, on a socket full of known ones: quiet before reading, and none that waits. */
static void test_one_client_gets_a_share_of_the_places(void **state)
{
    struct world *world = *state;
    world->table.limits.share = SHARE;
    fill(world, PLACES);
    for (size_t i = 0; i < PLACES; i++) {
        begin_as(world, i, i < SHARE + 3 ? 7 : 100 + i);
        assert_true(complete(world, i));
        if (i > 0)
            (void)connection_table_answer(&world->table, &world->connections[i], world->now_ms);
        if (i > 1)
            assert_false(rest(world, i, 0));
    }
    assert_int_equal(crowd_out(world, OLD), -1);
    for (int i = 2; i < 5; i++)
        assert_int_equal(crowd_out(world, 1 + OLD), i);
    assert_int_equal(crowd_out(world, 1 + OLD), -1);
    for (size_t i = 5; i < SHARE + 2; i++)
        begin_as(world, i, 8);
    fill(world, PLACES + 20);
    for (size_t i = PLACES; i < PLACES + 20; i++)
        begin_as(world, i, 8);
    assert_int_equal(crowd_out(world, 1 + OLD), 5); /* now of the other client */
}

static void test_waiting_and_reading_connections_are_evicted_last(void **state)
{
    struct world *world = *state;
    fill(world, PLACES);
    for (size_t i = 0; i < PLACES - 1; i++) {
        begin(world, i);
        assert_true(complete(world, i)); /* not yet identified */
    }
    (void)connection_table_answer(&world->table, &world->connections[7], 1);
    assert_int_equal(crowd_out(world, 1 + OLD), PLACES - 1); /* the youngest, but idle */
    assert_int_equal(crowd_out(world, 1 + OLD), 7);
    assert_int_equal(crowd_out(world, 1 + OLD), -1);
}

static void test_a_small_table_evicts_no_connection(void **state)
{
    struct world *world = *state;
    world->table.limits.places = 7;
    fill(world, 7);
    assert_int_equal(crowd_out(world, 1 + OLD), -1);
}

/* Its client may be sending the first request, which no client would send again. */
static void test_a_new_connection_is_not_closed_on_request(void **state)
{
    struct world *world = *state;
    const size_t asking = come(world), silent = come(world), served = come(world);
    ask(world, served, 1);
    world->now_ms += STRANGER_MS - 1;
    assert_false(close_quiet(world, asking));
    assert_false(close_quiet(world, silent));
    assert_false(close_quiet(world, silent)); /* a second call changes nothing */
    assert_true(close_quiet(world, served));
    begin(world, asking);
    assert_true(answer(world, asking));
    assert_int_equal(seen_at(world, silent, STRANGER_MS), CONNECTION_NOT_ENDED);
    assert_int_equal(seen_at(world, silent, STRANGER_MS + 1), CONNECTION_SILENT);
}

static void test_a_greeted_connection_is_new(void **state)
{
    struct world *world = *state;
    world->table.limits.has_handshake = true;
    size_t i = come(world);
    world->now_ms += REQUEST_MS - 1;
    connection_table_greet(&world->table, &world->connections[i], world->now_ms, world->bytes[i]);
    world->now_ms += STRANGER_MS - 1;
    assert_false(close_quiet(world, i));
    assert_int_equal(seen_at(world, i, world->now_ms + 1), CONNECTION_SILENT);
}

static void test_connections_are_closed_on_request(void **state)
{
    struct world *world = *state;
    const char *const what[] = {"unused", "served", "coming", "asking", "waiting", "answering"};
    for (size_t i = 0; i < 6; i++)
        (void)come(world);
    world->now_ms += STRANGER_MS;
    ask(world, 1, 1);
    ask(world, 2, 1);
    world->bytes[2].received++; /* not yet noticed */
    for (size_t i = 3; i < 6; i++)
        begin(world, i);
    assert_true(complete(world, 4));
    assert_false(answer(world, 5)); /* the answer did not announce it: closed once sent */
    for (size_t i = 0; i < 6; i++) {
        bool is_over = close_quiet(world, i);
        if (is_over != (i < 2))
            fail_msg("%s: closed is %d", what[i], is_over);
    }
    begin(world, 2);
    for (size_t i = 2; i < 5; i++) {
        assert_true(answer(world, i));
        assert_false(rest(world, i, 1)); /* the answer announced it, and the library closes */
    }
    assert_true(rest(world, 5, 1));
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(world->connections[i].ended == CONNECTION_TOLD, i < 2 || i == 5);
    assert_int_equal(world->table.n_open, 3);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, make)
    const struct CMUnitTest tests[] = {
        TEST(test_a_silent_connection_is_closed),
        TEST(test_a_header_is_timed_from_its_first_byte),
        TEST(test_the_handshake_and_the_first_request_have_separate_times),
        TEST(test_a_body_has_the_time_left_by_the_header),
        TEST(test_an_aborted_request_is_closed_early),
        TEST(test_an_aborted_request_gets_no_extra_time),
        TEST(test_a_header_begun_during_an_answer_has_its_full_time),
        TEST(test_a_request_completed_too_late_is_not_run),
        TEST(test_a_client_waiting_for_its_answer_is_not_late),
        TEST(test_a_served_connection_may_stay_idle),
        TEST(test_an_answer_must_be_read_at_a_minimum_rate),
        TEST(test_an_answer_in_kernel_buffers_is_timed),
        TEST(test_the_oldest_unknown_connections_are_evicted_first),
        TEST(test_a_new_connection_has_time_to_identify_itself),
        TEST(test_a_connection_once_admitted_counts_as_known),
        TEST(test_one_network_gets_a_share_of_the_places),
        TEST(test_one_client_gets_a_share_of_the_places),
        TEST(test_waiting_and_reading_connections_are_evicted_last),
        TEST(test_a_small_table_evicts_no_connection),
        TEST(test_connections_are_closed_on_request),
        TEST(test_a_new_connection_is_not_closed_on_request),
        TEST(test_a_greeted_connection_is_new),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
