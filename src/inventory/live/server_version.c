/* server_version: see live_priv.h, and include/inventory/live.h. */
#include "base/clock.h"
#include "formats/json_parse.h"
#include "formats/json_values.h"
#include "inventory/live/live_priv.h"
#include "kube/version.h"

#define PATH "/version"
#define REQUEST_MS INT64_C(5000)
#define PERIOD_MS INT64_C(600000)
#define RETRY_MS INT64_C(30000)

/* 0: unknown, as of a build that is no release. */
static int minor_in(const struct kube_answer *answer)
{
    json_t *version = NULL;
    (void)json_parse(answer->body, answer->body_len, 0, &JSON_ANSWER, &version, NULL);
    const int minor = kube_minor_of(json_string_value(json_member(version, "gitVersion")));
    json_decref(version);
    return minor > 0 ? minor : 0;
}

static void take(void *context, const struct kube_answer *answer)
{
    struct inventory *inventory = context;
    struct server_version *version = &inventory->live->version;
    const bool is_answered = answer->outcome == KUBE_ANSWERED && answer->status == 200;
    version->is_asked = false;
    version->next_ms = answer->at_ms + (is_answered ? PERIOD_MS : RETRY_MS);
    if (is_answered) {
        const int minor = minor_in(answer);
        inventory_lock_to_write(inventory);
        cluster_set_minor(inventory->state.cluster, minor);
        inventory_unlock(inventory);
    }
    version->sender.wake(version->sender.sender);
}

void inventory_ask_with(struct inventory *inventory, struct kube_sender sender)
{
    inventory->live->version.sender = sender;
}

int64_t inventory_ask_version(void *inventory_context, int64_t now_ms)
{
    static const struct kube_request REQUEST = {
        .method = "GET", .path = PATH, .timeout_ms = REQUEST_MS};
    struct inventory *inventory = inventory_context;
    struct server_version *version = &inventory->live->version;
    if (version->is_asked)
        return CLOCK_NEVER;
    if (now_ms < version->next_ms)
        return version->next_ms;
    version->is_asked = true;
    version->sender.send(version->sender.sender, &REQUEST, take, inventory);
    return CLOCK_NEVER;
}
