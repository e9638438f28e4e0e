/*
 * Gives a reflector any bytes as the API server's answers, at any intervals. Nothing crashes, its
 * requests follow its rules, it never requests in a loop, and it stores no more than its limits.
 *
 * The input has one command per line: "h200" a head, "+500" milliseconds, "e" an end, "c" a cut,
 * "n" not sent, "d" nothing unread, ":" and anything else: bytes with their newline.
 */
#include "kube/reflector.h"
#include "require.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define OBJECT_MAX 500
#define LONGEST_STEP_MS 200000
#define NEWEST "/api/v1/pods"
#define OLDER "/api/v1beta1/pods"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct world {
    struct reflector *reflector;
    int64_t now_ms;
    bool is_listing;
    bool is_open; /* a request is in flight */
    bool has_head;
    bool was_cut;     /* and no request since */
    bool is_unserved; /* the last head was a 404 */
};

static void on_list_begin(void *context)
{
    struct world *world = context;
    world->is_listing = true;
}

static void on_object(void *context, const json_t *object)
{
    const struct world *world = context;
    require(world->has_head && json_is_object(object));
}

static void on_too_large(void *context, const json_t *part, const struct json_over *over)
{
    require(over->why[0]);
    on_object(context, part);
}

static void on_list_end(void *context)
{
    struct world *world = context;
    require(world->is_listing);
    world->is_listing = false;
}

static void on_flush(void *context, const struct reflector_status *status)
{
    const struct world *world = context;
    require(status->synced || !status->stale);
    require(status->fresh_ms <= world->now_ms);
    require((!status->stale && status->synced) || status->why);
    for (const char *at = status->why; at && *at; at++)
        require(*at >= ' ' && *at <= '~');
}

static void on_lags(void *context, int64_t lag_since_ms)
{
    const struct world *world = context;
    require(reflector_lag_ms(lag_since_ms, world->now_ms) <= world->now_ms);
}

static void take(struct world *world, const struct kube_request *request)
{
    require(!world->is_open);
    require(strncmp(request->path, NEWEST "?", sizeof NEWEST) == 0 ||
            strncmp(request->path, OLDER "?", sizeof OLDER) == 0);
    require(request->timeout_ms > 0);
    world->is_open = true;
    world->has_head = false;
}

/* Until it waits: which is soon, and for later; after a cut that is at once. */
static void run(struct world *world)
{
    bool was_cut = world->was_cut;
    world->was_cut = false;
    for (int i = 0; i < 4; i++) {
        struct reflector_action action = reflector_next(world->reflector, world->now_ms);
        if (action.want == REFLECTOR_WAIT) {
            require(action.until_ms > world->now_ms);
            return;
        }
        if (action.want == REFLECTOR_REQUEST) {
            require(!was_cut);
            take(world, &action.request);
        } else {
            require(world->is_open);
            world->is_open = false;
        }
    }
    require(false);
}

static void end(struct world *world, enum kube_outcome outcome)
{
    bool is_legal = world->is_open && (world->has_head || outcome != KUBE_ANSWERED);
    if (!is_legal)
        return;
    world->is_open = false;
    /* An older version is asked for at once, also if the body of the 404 was cut. */
    world->was_cut = outcome != KUBE_ANSWERED && !(world->has_head && world->is_unserved);
    reflector_end(world->reflector, world->now_ms, outcome, "cut");
}

static void head(struct world *world, const char *text)
{
    const unsigned status = (unsigned)strtoul(text, NULL, 10) % 1000;
    if (world->is_open && !world->has_head) {
        reflector_head(world->reflector, world->now_ms, status, text[0] == '4' ? 3 : -1);
        world->is_unserved = status == 404;
    }
    world->has_head = true;
}

static void bytes(struct world *world, const char *text, size_t len)
{
    char *piece = malloc(len);
    require(piece != NULL);
    memcpy(piece, text, len);
    if (world->is_open && world->has_head)
        reflector_bytes(world->reflector, world->now_ms, piece, len);
    free(piece);
}

static void drained(struct world *world)
{
    if (world->is_open && world->has_head)
        reflector_drained(world->reflector, world->now_ms);
}

static void command(struct world *world, const char *line, size_t len)
{
    char text[16] = "";
    memcpy(text, line, len < sizeof text ? len : sizeof text - 1);
    if (text[0] == 'h')
        head(world, text + 1);
    else if (text[0] == '+')
        world->now_ms += (int64_t)(strtoul(text + 1, NULL, 10) % LONGEST_STEP_MS);
    else if (text[0] == 'e')
        end(world, KUBE_ANSWERED);
    else if (text[0] == 'd')
        drained(world);
    else if (text[0] == 'c')
        end(world, KUBE_UNKNOWN);
    else if (text[0] == 'n')
        end(world, KUBE_NOT_SENT);
    else
        bytes(world, line + 1, len - 1);
    run(world);
}

static void all(struct world *world, const char *text, size_t len)
{
    while (len > 0) {
        const char *newline = memchr(text, '\n', len);
        size_t n = newline ? (size_t)(newline - text) + 1 : len;
        command(world, text, n);
        text += n;
        len -= n;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const DROP[] = {"metadata.managedFields", NULL};
    static const char *const OLDER_PATHS[] = {OLDER, NULL};
    static const struct reflector_kind KIND = {
        .name = "pods", .path = NEWEST, .drop = DROP, .older = OLDER_PATHS};
    static const struct reflector_settings SETTINGS = {.kind = &KIND,
                                                       .page_size = 3,
                                                       .silence_ms = 60000,
                                                       .max_object_bytes = OBJECT_MAX,
                                                       .seed = 1};
    struct world world = {.now_ms = 1};
    const struct reflector_store store = {
        .list_begin = on_list_begin,
        .upsert = on_object,
        .too_large = on_too_large,
        .list_end = on_list_end,
        .removed = on_object,
        .flush = on_flush,
        .context = &world,
        .lags = on_lags,
    };
    world.reflector = reflector_new(&SETTINGS, &store);
    run(&world);
    all(&world, (const char *)data, size);
    reflector_free(world.reflector);
    return 0;
}
