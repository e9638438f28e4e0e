/* connections: see connections.h. */
#include "connections.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/mutex.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <utlist.h>

/* A slow connection is noticed at most request_ms / LATE_PART after its deadline. */
#define LATE_PART 4
/* TCP_ESTABLISHED of the kernel's include/net/tcp_states.h. */
#define STATE_ESTABLISHED 1
/* Period of checks while the socket is crowded. */
#define CROWDED_PERIOD_MS 250

struct connections {
    struct traffic *traffic;
    pthread_t thread;
    struct mutex lock; /* guards the rest */
    pthread_cond_t changed;
    bool is_stopping;
    struct connection_table table;
};

static struct connection_bytes bytes_of(const struct connection *connection)
{
    struct tcp_info info = {0};
    socklen_t len = sizeof info;
    if (getsockopt(connection->fd, IPPROTO_TCP, TCP_INFO, &info, &len) < 0)
        return (struct connection_bytes){0};
    return (struct connection_bytes){.received = info.tcpi_bytes_received,
                                     .taken = info.tcpi_bytes_acked,
                                     .has_more_to_take =
                                         info.tcpi_notsent_bytes > 0 || info.tcpi_unacked > 0};
}

bool connections_has_no_more(int fd)
{
    char byte = 0;
    return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

bool connections_has_left(int fd)
{
    struct tcp_info info = {0};
    socklen_t len = sizeof info;
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
           info.tcpi_state != STATE_ESTABLISHED;
}

/* Lock held. May be called twice. */
static void shut(const struct connection *connection)
{
    const struct linger none = {.l_onoff = 1, .l_linger = 0};
    /* Unread answers must not stay in the kernel. */
    if (connection->ended == CONNECTION_SLOW_READER || connection->ended == CONNECTION_CROWDED)
        (void)setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    (void)shutdown(connection->fd, SHUT_RDWR);
}

static void make_room(struct connections *connections, int64_t now_ms)
{
    const struct connection *out = NULL;
    while ((out = connection_table_crowd_out(&connections->table, now_ms)))
        shut(out);
}

static void sweep(struct connections *connections, int64_t now_ms)
{
    struct connection *connection = NULL;
    DL_FOREACH (connections->table.all, connection) {
        struct connection_bytes bytes = bytes_of(connection);
        bytes.has_no_more = connections_has_no_more(connection->fd);
        (void)connection_table_judge(&connections->table, connection, now_ms, bytes);
        if (connection->ended != CONNECTION_NOT_ENDED)
            shut(connection);
    }
    make_room(connections, now_ms);
}

/* Releases the lock while it waits. */
static void wait_until(struct connections *connections, int64_t at_ms) REQUIRES(connections->lock)
{
    const struct timespec at = clock_moment(at_ms);
    (void)pthread_cond_timedwait(&connections->changed, &connections->lock.native, &at);
}

static void *watch(void *arg)
{
    struct connections *connections = arg;
    const int64_t period_ms = connections->table.limits.request_ms / LATE_PART;
    int64_t swept_ms = 0;
    mutex_lock(&connections->lock);
    while (!connections->is_stopping) {
        const int64_t now_ms = clock_ms();
        const bool is_crowded = connection_table_is_crowded(&connections->table);
        const int64_t due_ms = swept_ms + (is_crowded ? CROWDED_PERIOD_MS : period_ms);
        if (!connections->table.all) {
            (void)pthread_cond_wait(&connections->changed, &connections->lock.native);
            swept_ms = clock_ms();
        } else if (now_ms >= due_ms) {
            sweep(connections, now_ms);
            swept_ms = now_ms;
        } else {
            wait_until(connections, due_ms);
        }
    }
    mutex_unlock(&connections->lock);
    return NULL;
}

static void connections_free(struct connections *connections)
{
    (void)pthread_cond_destroy(&connections->changed);
    mutex_fini(&connections->lock);
    free(connections);
}

int connections_start(const struct connection_limits *limits, struct traffic *traffic,
                      struct connections **ret_connections, struct err *err)
{
    struct connections *connections = MEM_NEW(struct connections);
    connections->traffic = traffic;
    connections->table.limits = *limits;
    clock_condition_init(&connections->changed);
    mutex_init(&connections->lock);
    int r = pthread_create(&connections->thread, NULL, watch, connections);
    if (r != 0) {
        connections_free(connections);
        return err_set(err, r, "cannot start the thread that supervises connections");
    }
    *ret_connections = connections;
    return 0;
}

void connections_stop(struct connections *connections)
{
    mutex_lock(&connections->lock);
    connections->is_stopping = true;
    (void)pthread_cond_signal(&connections->changed);
    mutex_unlock(&connections->lock);
    (void)pthread_join(connections->thread, NULL);
    connections_free(connections);
}

struct connection *connections_add(struct connections *connections, int fd, uint64_t network)
{
    struct connection *connection = MEM_NEW(struct connection);
    connection->fd = fd;
    connection->network = network;
    connection->owner = connections;
    mutex_lock(&connections->lock);
    const bool was_empty = !connections->table.all;
    connection_table_add(&connections->table, connection, clock_ms());
    make_room(connections, clock_ms());
    if (was_empty || connection_table_is_crowded(&connections->table))
        (void)pthread_cond_signal(&connections->changed);
    mutex_unlock(&connections->lock);
    traffic_add_connection(connections->traffic);
    return connection;
}

void connections_remove(struct connections *connections, struct connection *connection)
{
    mutex_lock(&connections->lock);
    connection_table_remove(&connections->table, connection);
    mutex_unlock(&connections->lock);
    traffic_remove_connection(connections->traffic, connection->ended);
    if (connection->ended != CONNECTION_NOT_ENDED)
        LOG(LOG_DEBUG, "http", LOG_MSG("closed a connection"),
            LOG_STR("cause", connection_end_name(connection->ended)));
    free(connection);
}

void connections_greet(struct connection *connection)
{
    struct connections *connections = connection->owner;
    const struct connection_bytes bytes = bytes_of(connection);
    mutex_lock(&connections->lock);
    connection_table_greet(&connections->table, connection, clock_ms(), bytes);
    mutex_unlock(&connections->lock);
}

void connections_begin(struct connections *connections, struct connection *connection,
                       uint64_t client)
{
    mutex_lock(&connections->lock);
    connection_table_begin(&connections->table, connection, clock_ms(), client);
    mutex_unlock(&connections->lock);
}

bool connections_complete(struct connections *connections, struct connection *connection)
{
    const struct connection_bytes bytes = bytes_of(connection);
    mutex_lock(&connections->lock);
    bool is_open = connection_table_complete(connection, bytes);
    mutex_unlock(&connections->lock);
    return is_open;
}

bool connections_answer(struct connections *connections, struct connection *connection)
{
    mutex_lock(&connections->lock);
    bool is_last = connection_table_answer(&connections->table, connection, clock_ms());
    mutex_unlock(&connections->lock);
    return is_last;
}

void connections_rest(struct connections *connections, struct connection *connection,
                      uint64_t client)
{
    mutex_lock(&connections->lock);
    if (connection_table_rest(&connections->table, connection, client))
        shut(connection);
    mutex_unlock(&connections->lock);
}

void connections_close_quiet(struct connections *connections)
{
    struct connection *connection = NULL;
    mutex_lock(&connections->lock);
    const int64_t now_ms = clock_ms();
    DL_FOREACH (connections->table.all, connection) {
        if (connection_table_close_quiet(&connections->table, connection, now_ms,
                                         bytes_of(connection)))
            shut(connection);
    }
    mutex_unlock(&connections->lock);
}
