/* sight: see sight.h. */
#include "sight.h"
#include "base/log.h"

#include <string.h>

static void see(struct sight *sight, json_t *object)
{
    json_decref(sight->object);
    sight->object = object;
    sight->is_news = true;
}

void sight_fini(struct sight *sight)
{
    json_decref(sight->object);
}

static void on_list_begin(void *context)
{
    struct sight *sight = context;
    sight->is_listed = false;
}

static void on_upsert(void *context, const json_t *object)
{
    struct sight *sight = context;
    sight->is_listed = true;
    see(sight, json_deep_copy(object));
}

/* Whatever it says; a GET will not be taken either. */
static void on_too_large(void *context, const json_t *part)
{
    struct sight *sight = context;
    (void)part;
    sight->is_listed = true;
}

static void on_list_end(void *context)
{
    struct sight *sight = context;
    if (!sight->is_listed)
        see(sight, NULL);
}

static void on_removed(void *context, const json_t *object)
{
    (void)object;
    see(context, NULL);
}

/* why is "watch /apis/...: 403: ...". */
static void tell_refusal(const struct sight *sight, const char *why)
{
    const bool is_watch = strncmp(why, "watch ", 6) == 0;
    LOG(LOG_WARN, "leader",
        LOG_MSG("the API server does not let this be followed: its changes are seen late"),
        LOG_STR("kind", sight->kind), LOG_STR("right", is_watch ? "watch" : "list"),
        LOG_STR("why", why));
}

static void on_flush(void *context, const struct reflector_status *status)
{
    if (status->is_news && status->trouble == TROUBLE_REFUSED)
        tell_refusal(context, status->why);
}

struct reflector_store sight_store(struct sight *sight, const char *kind)
{
    sight->kind = kind;
    return (struct reflector_store){
        .list_begin = on_list_begin,
        .upsert = on_upsert,
        .too_large = on_too_large,
        .list_end = on_list_end,
        .removed = on_removed,
        .flush = on_flush,
        .context = sight,
    };
}

bool sight_take(struct sight *sight, const json_t **ret_object)
{
    if (!sight->is_news)
        return false;
    sight->is_news = false;
    *ret_object = sight->object;
    return true;
}
