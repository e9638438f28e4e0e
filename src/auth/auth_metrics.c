/* auth_metrics: see include/auth/auth.h. */
#include "auth_priv.h"

static const char *const REVIEWS[N_REVIEW_KINDS] = {
    [TOKEN_REVIEW] = "TokenReview",
    [ACCESS_REVIEW] = "SubjectAccessReview",
};
static const char *const RESULTS[N_REVIEW_RESULTS] = {
    [REVIEW_YES] = "yes",
    [REVIEW_NO] = "no",
    [REVIEW_FAILED] = "failed",
};
static const char *const LOOKUPS[N_LOOKUPS] = {
    [LOOKUP_HIT] = "hit",
    [LOOKUP_MISS] = "miss",
    [LOOKUP_BUSY] = "busy",
    [LOOKUP_LIMITED] = "limited",
};

const char *auth_review_name(enum review_kind kind)
{
    return REVIEWS[kind];
}

static void add_reviews(const struct auth *auth, struct buf *out)
{
    metrics_head(out, "gpu_extender_auth_reviews_total", "counter",
                 "Reviews of users' tokens by the API server, by kind and result.");
    for (size_t kind = 0; kind < N_REVIEW_KINDS; kind++) {
        for (size_t result = 0; result < N_REVIEW_RESULTS; result++) {
            const struct metric_label labels[] = {
                {"review", REVIEWS[kind]}, {"result", RESULTS[result]}, {0}};
            metrics_sample(out, "gpu_extender_auth_reviews_total", labels,
                           (double)counter_value(&auth->reviews[kind][result]));
        }
    }
}

static void add_lookups(const struct auth *auth, struct buf *out)
{
    metrics_head(out, "gpu_extender_auth_lookups_total", "counter",
                 "Users' requests with a token, by how they were decided: from the cache, by a "
                 "review, or rejected.");
    for (size_t i = 0; i < N_LOOKUPS; i++) {
        const struct metric_label labels[] = {{"result", LOOKUPS[i]}, {0}};
        metrics_sample(out, "gpu_extender_auth_lookups_total", labels,
                       (double)counter_value(&auth->lookups[i]));
    }
}

void auth_metrics(struct auth *auth, struct buf *out)
{
    mutex_lock(&auth->lock);
    const size_t n_open = HASH_COUNT(auth->inquiries);
    mutex_unlock(&auth->lock);
    add_reviews(auth, out);
    add_lookups(auth, out);
    metrics_gauge(out, "gpu_extender_auth_reviews_open", "Tokens whose reviews are in progress.",
                  (double)n_open);
}
