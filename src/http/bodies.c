/* bodies: see bodies.h. */
#include "bodies.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "base/table.h"

#include <stdlib.h>

/* Each client may have 1/SHARES of the bytes of all unread answers. */
#define SHARES 8

/* Large ones to a client; as many clients as fit in the maximum. */
struct unread_answers {
    uint64_t client;
    size_t n_bytes;
    UT_hash_handle hh;
};

void bodies_init(struct bodies *bodies, size_t max)
{
    *bodies = (struct bodies){.max = max};
    mutex_init(&bodies->lock);
}

void bodies_fini(struct bodies *bodies)
{
    mutex_fini(&bodies->lock);
}

static size_t room(const struct bodies *bodies, enum body_owner owner) REQUIRES(bodies->lock)
{
    const size_t others = bodies->held[BODY_OF_OTHERS];
    const size_t all = bodies->max - others - bodies->held[BODY_OF_VERBS];
    const size_t half = bodies->max / 2;
    if (owner == BODY_OF_OTHERS && half - others < all)
        return half - others;
    return all;
}

bool bodies_take(struct bodies *bodies, enum body_owner owner, size_t n_bytes)
{
    mutex_lock(&bodies->lock);
    bool is_room = n_bytes <= room(bodies, owner);
    if (is_room)
        bodies->held[owner] += n_bytes;
    mutex_unlock(&bodies->lock);
    return is_room;
}

void bodies_give_back(struct bodies *bodies, enum body_owner owner, size_t n_bytes)
{
    mutex_lock(&bodies->lock);
    bodies->held[owner] -= n_bytes;
    mutex_unlock(&bodies->lock);
}

static struct unread_answers *find_client(struct bodies *bodies, uint64_t client)
    REQUIRES(bodies->lock)
{
    struct unread_answers *found = NULL;
    HASH_FIND(hh, bodies->clients, &client, sizeof client, found);
    return found;
}

/* A single one always does. */
static bool fits(size_t held, size_t n_bytes, size_t max)
{
    return held == 0 || (held < max && n_bytes <= max - held);
}

static void add_answer(struct bodies *bodies, uint64_t client, size_t n_bytes)
    REQUIRES(bodies->lock)
{
    struct unread_answers *unread = find_client(bodies, client);
    if (!unread) {
        unread = MEM_NEW(struct unread_answers);
        unread->client = client;
        HASH_ADD(hh, bodies->clients, client, sizeof unread->client, unread);
    }
    unread->n_bytes += n_bytes;
    bodies->answers += n_bytes;
}

bool bodies_take_answer(struct bodies *bodies, uint64_t client, size_t n_bytes)
{
    mutex_lock(&bodies->lock);
    const struct unread_answers *unread = find_client(bodies, client);
    const bool is_room = fits(unread ? unread->n_bytes : 0, n_bytes, bodies->max / SHARES) &&
                         fits(bodies->answers, n_bytes, bodies->max);
    if (is_room)
        add_answer(bodies, client, n_bytes);
    mutex_unlock(&bodies->lock);
    return is_room;
}

void bodies_give_back_answer(struct bodies *bodies, uint64_t client, size_t n_bytes)
{
    mutex_lock(&bodies->lock);
    struct unread_answers *unread = find_client(bodies, client);
    unread->n_bytes -= n_bytes;
    bodies->answers -= n_bytes;
    if (unread->n_bytes == 0) {
        HASH_DEL(bodies->clients, unread);
        free(unread);
    }
    mutex_unlock(&bodies->lock);
}

void bodies_write(struct bodies *bodies, struct buf *out)
{
    const char *metric = "gpu_extender_http_body_bytes";
    mutex_lock(&bodies->lock);
    const struct {
        const char *owner;
        size_t n_bytes;
    } rows[] = {{"verbs", bodies->held[BODY_OF_VERBS]},
                {"others", bodies->held[BODY_OF_OTHERS]},
                {"answers", bodies->answers}};
    mutex_unlock(&bodies->lock);
    metrics_head(out, metric, "gauge",
                 "Bytes in memory: bodies of requests in progress, by owner, and large unread "
                 "answers to users.");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct metric_label labels[] = {{"for", rows[i].owner}, {NULL, NULL}};
        metrics_sample(out, metric, labels, (double)rows[i].n_bytes);
    }
}
