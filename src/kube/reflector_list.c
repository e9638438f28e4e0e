/*
 * reflector_list: reads the pages of a list. A probe's answer is read the same way, but for its
 * items, which are not looked at.
 */
#include "formats/json_get.h"
#include "reflector_priv.h"

#include <string.h>

#define MAX_DEPTH ((size_t)100)
/* How long a collection that is not served is taken for not served. */
#define ABSENT_MS 60000

/* "PodList"; absent is as yet unknown. */
static int check_kind(const json_t *list, bool may_be_absent, struct err *err)
{
    static const char END[] = "List";
    const char *kind = NULL;
    int r = json_get_string(list, "kind", &kind, err);
    if (r < 0 || (!kind && may_be_absent))
        return r;
    size_t len = kind ? strlen(kind) : 0;
    if (len < sizeof END || strcmp(kind + len - (sizeof END - 1), END) != 0)
        return err_set(err, EINVAL, "kind: is \"%.40s\", should be that of a list",
                       kind ? kind : "");
    return 0;
}

static int on_list(void *context, json_t *so_far, struct text_position at, struct err *err)
{
    struct reflector *reflector = context;
    (void)at;
    reflector->listing.has_items = true;
    return check_kind(so_far, true, err);
}

static int on_item(void *context, json_t *item, struct text_position at, struct err *err)
{
    struct reflector *reflector = context;
    if (!json_is_object(item))
        return err_set(err, EINVAL, "%zu:%zu: is %s, should be an object of the list", at.line,
                       at.column, json_type_text(item));
    reflector->store.upsert(reflector->store.context, item);
    reflector->is_dirty = true;
    return 0;
}

static bool on_large_item(void *context, const json_t *part)
{
    struct reflector *reflector = context;
    reflector->store.too_large(reflector->store.context, part);
    reflector->is_dirty = true;
    return true;
}

/* A member of the list's metadata; empty where it is absent. */
static int take_token(const json_t *list, const char *key, struct buf *out, struct err *err)
{
    const char *token = "";
    buf_clear(out);
    int r = json_get_string(json_member(list, "metadata"), key, &token, err);
    if (r < 0)
        return r;
    if (buf_add_text(out, token) < 0)
        return err_set(err, EINVAL, "metadata.%s: is longer than %zu bytes", key,
                       REFLECTOR_TOKEN_MAX);
    return 0;
}

static int on_envelope(void *context, json_t *list, struct text_position at, struct err *err)
{
    struct reflector *reflector = context;
    struct listing *listing = &reflector->listing;
    (void)at;
    if (reflector->flight.n_objects++ > 0)
        return err_set(err, EINVAL, "a second object follows the list");
    int r = check_kind(list, false, err);
    /* Go writes an empty list as null, too. */
    if (r == 0 && !listing->has_items && !json_is_null(json_object_get(list, "items")))
        r = err_set(err, EINVAL, "items: is missing, should be a list");
    if (r == 0)
        r = take_token(list, "resourceVersion", &listing->page_version, err);
    if (r == 0 && (listing->page_version.len == 0 || strcmp(listing->page_version.data, "0") == 0))
        r = err_set(err, EINVAL, "metadata.resourceVersion: is missing");
    if (r == 0)
        r = take_token(list, "continue", &listing->page_continue, err);
    return r;
}

struct json_stream *reflector_page_stream(struct reflector *reflector)
{
    bool is_probe = reflector->step == STEP_PROBE;
    const struct json_stream_options options = {
        .drop = reflector->settings.kind->drop,
        .max_object_bytes = reflector->settings.max_object_bytes,
        .max_depth = MAX_DEPTH,
    };
    const struct json_stream_handler handler = {
        .on_list = on_list,
        .on_item = is_probe ? NULL : on_item,
        .on_envelope = on_envelope,
        .on_large_item = on_large_item,
        .context = reflector,
    };
    struct listing *listing = &reflector->listing;
    listing->has_items = false;
    if (!is_probe && !listing->has_begun) {
        listing->has_begun = true;
        reflector->store.list_begin(reflector->store.context);
        reflector->is_dirty = true;
    }
    return json_stream_new(&options, &handler);
}

static void copy(struct buf *to, const struct buf *from)
{
    buf_clear(to);
    (void)buf_add(to, buf_text(from), from->len);
}

static void list_end(struct reflector *reflector, int64_t now_ms)
{
    reflector->is_absent = false;
    copy(&reflector->version, &reflector->listing.version);
    reflector->store.list_end(reflector->store.context);
    reflector_lag_ends(reflector, now_ms, !reflector->status.synced);
    reflector->status.synced = true;
    reflector->step = STEP_WATCH;
    reflector->listed_ms = now_ms;
    reflector_set_fresh(reflector, now_ms);
    reflector_catch_up_listed(reflector, now_ms);
}

/* The first page's resourceVersion is the list's: should a later page be newer, the watch tells
 * what lies between. */
void reflector_page_end(struct reflector *reflector, int64_t now_ms)
{
    struct listing *listing = &reflector->listing;
    if (listing->continue_.len == 0)
        copy(&listing->version, &listing->page_version);
    if (listing->page_continue.len == 0) {
        list_end(reflector, now_ms);
        return;
    }
    if (strcmp(buf_text(&listing->page_continue), buf_text(&listing->continue_)) == 0) {
        reflector_say(reflector, TROUBLE_FAILED, "the next page is said to be the same again");
        reflector_failed(reflector, now_ms, FAILURE_GARBAGE, -1);
        return;
    }
    copy(&listing->continue_, &listing->page_continue);
}

/* Asked again so often that it never counts as not followed. What was told once is not told again,
 * and that it was asked again is no relist. */
void reflector_page_absent(struct reflector *reflector, int64_t now_ms)
{
    const struct reflector_store *store = &reflector->store;
    const int64_t half_ms = reflector->settings.silence_ms / 2;
    if (!reflector->is_absent) {
        store->list_begin(store->context);
        store->list_end(store->context);
    }
    reflector->is_absent = true;
    reflector->status.synced = true;
    reflector_relist(reflector, RELIST_START);
    reflector->listing.is_counted = true;
    reflector->not_before_ms = now_ms + (half_ms < ABSENT_MS ? half_ms : ABSENT_MS);
    reflector_set_fresh(reflector, now_ms);
    reflector_settle(reflector);
}
