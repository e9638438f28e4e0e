/* object_watch: see object_watch.h. */
#include "object_watch.h"
#include "base/log.h"

#include <string.h>

static void see(struct object_watch *watch, json_t *object)
{
    json_decref(watch->object);
    watch->object = object;
    watch->is_news = true;
}

void object_watch_fini(struct object_watch *watch)
{
    json_decref(watch->object);
}

static void on_list_begin(void *context)
{
    struct object_watch *watch = context;
    watch->is_listed = false;
}

static void on_upsert(void *context, const json_t *object)
{
    struct object_watch *watch = context;
    watch->is_listed = true;
    see(watch, json_deep_copy(object));
}

/* A GET would be too large, too. */
static void on_too_large(void *context, const json_t *part, const struct json_over *over)
{
    struct object_watch *watch = context;
    (void)part;
    (void)over;
    watch->is_listed = true;
}

static void on_list_end(void *context)
{
    struct object_watch *watch = context;
    if (!watch->is_listed)
        see(watch, NULL);
}

static void on_removed(void *context, const json_t *object)
{
    (void)object;
    see(context, NULL);
}

/* why: "watch /apis/...: 403: ...". */
static void log_refusal(const struct object_watch *watch, const char *why)
{
    const bool is_watch = strncmp(why, "watch ", 6) == 0;
    LOG(LOG_WARN, "leader", LOG_MSG("watch forbidden; changes will be noticed late"),
        LOG_STR("kind", watch->kind), LOG_STR("right", is_watch ? "watch" : "list"),
        LOG_STR("why", why));
}

static void on_flush(void *context, const struct reflector_status *status)
{
    if (status->is_news && status->trouble == TROUBLE_REFUSED)
        log_refusal(context, status->why);
}

struct reflector_store object_watch_store(struct object_watch *watch, const char *kind)
{
    watch->kind = kind;
    return (struct reflector_store){
        .list_begin = on_list_begin,
        .upsert = on_upsert,
        .too_large = on_too_large,
        .list_end = on_list_end,
        .removed = on_removed,
        .flush = on_flush,
        .context = watch,
    };
}

bool object_watch_take(struct object_watch *watch, const json_t **ret_object)
{
    if (!watch->is_news)
        return false;
    watch->is_news = false;
    *ret_object = watch->object;
    return true;
}
