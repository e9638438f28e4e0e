/* reflector_request: the requests a reflector sends, each a path with its query. */
#include "random.h"
#include "reflector_priv.h"

#include <ctype.h>

#define LIST_HEAD_MS 30000
#define LIST_IDLE_MS 30000
#define PROBE_MS 10000
#define WATCH_HEAD_MS 20000
#define WATCH_SHORTEST_S 300
#define WATCH_LONGEST_S 600
#define REWATCH_S 8

static void add(struct reflector *reflector, const char *text)
{
    (void)buf_add_text(&reflector->path, text);
}

/* Percent-encoded, but for what RFC 3986 calls unreserved. */
static void add_encoded(struct reflector *reflector, const char *text)
{
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        bool plain = byte < 0x80 &&
                     (isalnum(byte) || byte == '-' || byte == '.' || byte == '_' || byte == '~');
        (void)buf_printf(&reflector->path, plain ? "%c" : "%%%02X", byte);
    }
}

static void add_selector(struct reflector *reflector)
{
    if (!reflector->settings.kind->field_selector)
        return;
    add(reflector, "&fieldSelector=");
    add(reflector, reflector->settings.kind->field_selector);
}

static void write_list(struct reflector *reflector, int limit)
{
    (void)buf_printf(&reflector->path, "?limit=%d", limit);
    add_selector(reflector);
}

static void write_page(struct reflector *reflector)
{
    write_list(reflector, reflector->settings.page_size);
    if (reflector->listing.continue_.len == 0)
        return;
    add(reflector, "&continue=");
    add_encoded(reflector, buf_text(&reflector->listing.continue_));
}

static void write_watch(struct reflector *reflector, int64_t seconds)
{
    add(reflector, "?watch=true&resourceVersion=");
    add_encoded(reflector, buf_text(&reflector->version));
    (void)buf_printf(&reflector->path, "&allowWatchBookmarks=true&timeoutSeconds=%d", (int)seconds);
    add_selector(reflector);
}

static struct kube_request request_of(struct reflector *reflector, int64_t timeout_ms,
                                      int64_t idle_ms)
{
    return (struct kube_request){
        .method = "GET",
        .path = buf_text(&reflector->path),
        .timeout_ms = timeout_ms,
        .idle_ms = idle_ms,
        .fresh = reflector->fresh,
    };
}

struct kube_request reflector_request(struct reflector *reflector)
{
    int64_t seconds = WATCH_SHORTEST_S;
    buf_clear(&reflector->path);
    add(reflector, reflector->settings.kind->path);
    switch (reflector->step) {
    case STEP_LIST:
        write_page(reflector);
        return request_of(reflector, LIST_HEAD_MS, LIST_IDLE_MS);
    case STEP_PROBE:
        write_list(reflector, 1);
        return request_of(reflector, PROBE_MS, PROBE_MS);
    case STEP_REWATCH:
        write_watch(reflector, REWATCH_S);
        break;
    case STEP_WATCH:
        seconds += random_below(&reflector->random, WATCH_LONGEST_S - WATCH_SHORTEST_S + 1);
        write_watch(reflector, seconds);
        break;
    }
    return request_of(reflector, WATCH_HEAD_MS, 0);
}
