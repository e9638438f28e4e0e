/* connection_table: see connection_table.h. */
#include "connection_table.h"
#include "base/clock.h"

#include <utlist.h>

/* A socket is crowded with fewer than 1/SPARE_PART of its places left. */
#define SPARE_PART 8
/* Least time for a new connection to send a request header. */
#define STRANGER_MS 1000
/* Least time for the transport to process a complete request that it has read. */
#define READ_MS 1000

const char *connection_end_name(enum connection_end end)
{
    static const char *const NAMES[N_CONNECTION_ENDS] = {
        [CONNECTION_NOT_ENDED] = "other",           [CONNECTION_SILENT] = "silent",
        [CONNECTION_SLOW_REQUEST] = "slow_request", [CONNECTION_SLOW_READER] = "slow_reader",
        [CONNECTION_CROWDED] = "crowded",           [CONNECTION_TOLD] = "told",
    };
    return NAMES[end];
}

static void enter(struct connection *connection, enum connection_phase phase, int64_t deadline_ms)
{
    connection->phase = phase;
    connection->deadline_ms = deadline_ms;
}

static void end(struct connection_table *table, struct connection *connection,
                enum connection_end how)
{
    connection->ended = how;
    table->n_open--;
}

void connection_table_add(struct connection_table *table, struct connection *connection,
                          int64_t now_ms)
{
    connection->came_ms = now_ms;
    if (table->limits.has_handshake)
        enter(connection, CONNECTION_ASKING, now_ms + table->limits.request_ms);
    else
        enter(connection, CONNECTION_QUIET, now_ms + table->limits.silence_ms);
    DL_APPEND(table->all, connection);
    table->n_open++;
}

void connection_table_remove(struct connection_table *table, struct connection *connection)
{
    if (connection->ended == CONNECTION_NOT_ENDED)
        table->n_open--;
    DL_DELETE(table->all, connection);
}

void connection_table_greet(struct connection_table *table, struct connection *connection,
                            int64_t now_ms, struct connection_bytes bytes)
{
    enter(connection, CONNECTION_QUIET, now_ms + table->limits.silence_ms);
    connection->n_received = bytes.received;
    connection->n_taken = bytes.taken; /* session tickets are in flight */
    connection->reader_ms = now_ms + table->limits.request_ms;
}

static void know(struct connection *connection, uint64_t client)
{
    if (client > 0)
        connection->known_as = client;
}

static void begin(struct connection_table *table, struct connection *connection, int64_t now_ms)
{
    if (connection->phase != CONNECTION_ASKING)
        enter(connection, CONNECTION_ASKING, now_ms + table->limits.request_ms);
}

void connection_table_begin(struct connection_table *table, struct connection *connection,
                            int64_t now_ms, uint64_t client)
{
    begin(table, connection, now_ms);
    know(connection, client);
}

bool connection_table_complete(struct connection *connection, struct connection_bytes bytes)
{
    if (connection->phase == CONNECTION_ASKING) {
        enter(connection, CONNECTION_WAITING, CLOCK_NEVER);
        connection->n_received = bytes.received;
        connection->n_taken = bytes.taken;
    }
    return connection->ended == CONNECTION_NOT_ENDED;
}

bool connection_table_answer(struct connection_table *table, struct connection *connection,
                             int64_t now_ms)
{
    enter(connection, CONNECTION_ANSWERING, CLOCK_NEVER);
    connection->reader_ms = now_ms + table->limits.request_ms;
    connection->was_said = connection->is_last;
    return connection->is_last;
}

bool connection_table_rest(struct connection_table *table, struct connection *connection,
                           uint64_t client)
{
    const bool is_over =
        connection->is_last && !connection->was_said && connection->ended == CONNECTION_NOT_ENDED;
    know(connection, client);
    enter(connection, CONNECTION_QUIET, CLOCK_NEVER);
    if (is_over)
        end(table, connection, CONNECTION_TOLD);
    return is_over;
}

static bool is_slow_reader(struct connection_table *table, struct connection *connection,
                           int64_t now_ms, struct connection_bytes bytes)
{
    const uint64_t least = (uint64_t)table->limits.request_ms * ANSWER_BYTES_PER_S / 1000;
    if (now_ms < connection->reader_ms)
        return false;
    if (bytes.taken - connection->n_taken < least)
        return true;
    connection->n_taken = bytes.taken;
    connection->reader_ms = now_ms + table->limits.request_ms;
    return false;
}

/* Detects the first bytes of a request that the transport has not reported yet, and an input that
 * ended within a request, which the transport never reports. */
static void notice(struct connection_table *table, struct connection *connection, int64_t now_ms,
                   struct connection_bytes bytes)
{
    if (connection->phase == CONNECTION_QUIET && bytes.received != connection->n_received)
        begin(table, connection, now_ms);
    if (connection->phase == CONNECTION_ASKING && bytes.has_no_more &&
        connection->deadline_ms > now_ms + READ_MS)
        connection->deadline_ms = now_ms + READ_MS;
}

/* The library limits how long a served connection may stay quiet. */
static enum connection_end judge_quiet(struct connection_table *table,
                                       struct connection *connection, int64_t now_ms,
                                       struct connection_bytes bytes)
{
    if (now_ms >= connection->deadline_ms)
        return CONNECTION_SILENT;
    if (bytes.has_more_to_take && is_slow_reader(table, connection, now_ms, bytes))
        return CONNECTION_SLOW_READER;
    return CONNECTION_NOT_ENDED;
}

static enum connection_end judge(struct connection_table *table, struct connection *connection,
                                 int64_t now_ms, struct connection_bytes bytes)
{
    switch (connection->phase) {
    case CONNECTION_QUIET:
        return judge_quiet(table, connection, now_ms, bytes);
    case CONNECTION_ASKING:
        return now_ms >= connection->deadline_ms ? CONNECTION_SLOW_REQUEST : CONNECTION_NOT_ENDED;
    case CONNECTION_ANSWERING:
        return is_slow_reader(table, connection, now_ms, bytes) ? CONNECTION_SLOW_READER
                                                                : CONNECTION_NOT_ENDED;
    case CONNECTION_WAITING:
        break;
    }
    return CONNECTION_NOT_ENDED;
}

bool connection_table_judge(struct connection_table *table, struct connection *connection,
                            int64_t now_ms, struct connection_bytes bytes)
{
    if (connection->ended != CONNECTION_NOT_ENDED)
        return false;
    notice(table, connection, now_ms, bytes);
    enum connection_end how = judge(table, connection, now_ms, bytes);
    if (how != CONNECTION_NOT_ENDED)
        end(table, connection, how);
    return how != CONNECTION_NOT_ENDED;
}

bool connection_table_is_crowded(const struct connection_table *table)
{
    return table->n_open > table->limits.places - table->limits.places / SPARE_PART;
}

/* ---- crowded ---- */

/* Whoever has more than a quarter of the places, which is the share, is among three. */
#define GREEDY_MAX 3

struct greedy {
    struct {
        bool is_known;
        uint64_t id; /* of a stranger its network */
        size_t n;
    } items[GREEDY_MAX];
};

static uint64_t id_of(const struct connection *connection)
{
    return connection->known_as > 0 ? connection->known_as : connection->network;
}

/* GREEDY_MAX: it is not there. */
static size_t find_greedy(const struct greedy *greedy, const struct connection *connection)
{
    size_t i = 0;
    while (i < GREEDY_MAX && (greedy->items[i].n == 0 || greedy->items[i].id != id_of(connection) ||
                              greedy->items[i].is_known != (connection->known_as > 0)))
        i++;
    return i;
}

/* Counts it, or takes one from each of the others (Misra and Gries). */
static void weigh(struct greedy *greedy, const struct connection *connection)
{
    const size_t found = find_greedy(greedy, connection);
    size_t free = 0;
    while (free < GREEDY_MAX && greedy->items[free].n > 0)
        free++;
    if (found < GREEDY_MAX) {
        greedy->items[found].n++;
    } else if (free < GREEDY_MAX) {
        greedy->items[free].is_known = connection->known_as > 0;
        greedy->items[free].id = id_of(connection);
        greedy->items[free].n = 1;
    } else {
        for (size_t i = 0; i < GREEDY_MAX; i++)
            greedy->items[i].n--;
    }
}

static struct greedy greedy_of(const struct connection_table *table)
{
    struct greedy greedy = {0};
    size_t n[GREEDY_MAX + 1] = {0};
    const struct connection *connection = NULL;
    if (table->limits.share == 0)
        return greedy;
    DL_FOREACH (table->all, connection) {
        if (connection->ended == CONNECTION_NOT_ENDED)
            weigh(&greedy, connection);
    }
    DL_FOREACH (table->all, connection)
        n[find_greedy(&greedy, connection)] += connection->ended == CONNECTION_NOT_ENDED;
    for (size_t i = 0; i < GREEDY_MAX; i++)
        greedy.items[i].n = n[i] > table->limits.share ? n[i] : 0;
    return greedy;
}

/* In the order in which they make room. */
enum place_rank {
    GREEDY_STRANGER,
    QUIET_STRANGER,
    READING_STRANGER,
    GREEDY_CLIENT,
    GREEDY_READER,
    KEEPS_PLACE
};

/* Never one that waits for our answer. */
static enum place_rank rank_of(const struct connection *connection, const struct greedy *greedy,
                               int64_t before_ms)
{
    const bool is_greedy = find_greedy(greedy, connection) < GREEDY_MAX;
    const bool is_old = connection->came_ms <= before_ms;
    const bool reads = connection->phase == CONNECTION_ANSWERING;
    if (connection->ended != CONNECTION_NOT_ENDED || connection->phase == CONNECTION_WAITING)
        return KEEPS_PLACE;
    if (connection->known_as > 0 && is_greedy && is_old)
        return reads ? GREEDY_READER : GREEDY_CLIENT;
    if (connection->known_as > 0 || (!is_old && (!is_greedy || reads)))
        return KEEPS_PLACE;
    if (reads)
        return READING_STRANGER;
    return is_greedy ? GREEDY_STRANGER : QUIET_STRANGER;
}

/* The oldest of the first rank: the list is in order of arrival. */
static struct connection *first_to_go(const struct connection_table *table, int64_t before_ms)
{
    const struct greedy greedy = greedy_of(table);
    enum place_rank rank = KEEPS_PLACE;
    struct connection *first = NULL;
    struct connection *connection = NULL;
    DL_FOREACH (table->all, connection) {
        const enum place_rank other = rank_of(connection, &greedy, before_ms);
        if (other < rank) {
            rank = other;
            first = connection;
        }
    }
    return first;
}

struct connection *connection_table_crowd_out(struct connection_table *table, int64_t now_ms)
{
    struct connection *out = NULL;
    if (connection_table_is_crowded(table))
        out = first_to_go(table, now_ms - STRANGER_MS);
    if (out)
        end(table, out, CONNECTION_CROWDED);
    return out;
}

bool connection_table_close_quiet(struct connection_table *table, struct connection *connection,
                                  int64_t now_ms, struct connection_bytes bytes)
{
    if (connection->ended != CONNECTION_NOT_ENDED || connection->is_last)
        return false;
    const bool is_quiet =
        connection->phase == CONNECTION_QUIET && bytes.received == connection->n_received;
    const bool is_unused = is_quiet && connection->deadline_ms != CLOCK_NEVER;
    const int64_t stranger_until_ms =
        is_unused ? connection->deadline_ms - table->limits.silence_ms + STRANGER_MS : now_ms;
    if (is_quiet && now_ms >= stranger_until_ms) {
        end(table, connection, CONNECTION_TOLD);
        return true;
    }
    connection->is_last = true;
    if (is_unused)
        connection->deadline_ms = stranger_until_ms;
    return false;
}
