/* bodies: see bodies.h. */
#include "bodies.h"
#include "base/metrics.h"

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

bool bodies_take_answer(struct bodies *bodies, size_t n_bytes)
{
    mutex_lock(&bodies->lock);
    const size_t held = bodies->answers;
    bool is_room = held == 0 || (held < bodies->max && n_bytes <= bodies->max - held);
    if (is_room)
        bodies->answers += n_bytes;
    mutex_unlock(&bodies->lock);
    return is_room;
}

void bodies_give_back_answer(struct bodies *bodies, size_t n_bytes)
{
    mutex_lock(&bodies->lock);
    bodies->answers -= n_bytes;
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
