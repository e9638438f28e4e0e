/* harness: see harness.h. */
#include "harness.h"

#include "base/mem.h"
#include "base/table.h"
#include "formats/json_values.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

struct harness_name {
    char *name;
    bool seen;
    UT_hash_handle hh;
};

static const char *const DROP[] = {"metadata.managedFields", NULL};

/* ---- the store ---- */

static const char *name_of(const json_t *object)
{
    const json_t *metadata = json_member(object, "metadata");
    assert_null(json_object_get(metadata, "managedFields"));
    return json_string_value(json_member(metadata, "name"));
}

static void forget(struct harness *harness, struct harness_name *name)
{
    HASH_DEL(harness->names, name);
    free(name->name);
    free(name);
}

static void on_list_begin(void *context)
{
    struct harness *harness = context;
    harness->is_listing = true;
    for (struct harness_name *name = harness->names; name; name = name->hh.next)
        name->seen = false;
}

static void on_upsert(void *context, const json_t *object)
{
    struct harness *harness = context;
    struct harness_name *name = NULL;
    const char *text = name_of(object);
    HASH_FIND_STR(harness->names, text, name);
    if (!name) {
        name = MEM_NEW(struct harness_name);
        name->name = mem_strdup(text);
        HASH_ADD_KEYPTR(hh, harness->names, name->name, strlen(name->name), name);
    }
    name->seen = true;
}

static void on_too_large(void *context, const json_t *part, const struct json_over *over)
{
    (void)over;
    struct harness *harness = context;
    harness->n_too_large++;
    on_upsert(harness, part);
}

static void on_list_end(void *context)
{
    struct harness *harness = context;
    struct harness_name *name = NULL;
    struct harness_name *next = NULL;
    assert_true(harness->is_listing);
    harness->is_listing = false;
    HASH_ITER (hh, harness->names, name, next) {
        if (!name->seen)
            forget(harness, name);
    }
}

static void on_removed(void *context, const json_t *object)
{
    struct harness *harness = context;
    struct harness_name *name = NULL;
    HASH_FIND_STR(harness->names, name_of(object), name);
    if (name)
        forget(harness, name);
}

static void on_flush(void *context, const struct reflector_status *status)
{
    struct harness *harness = context;
    harness->n_flushes++;
    harness->n_told += status->is_news;
    harness->status = *status;
    assert_true(!status->why || strlen(status->why) < sizeof harness->why);
    (void)snprintf(harness->why, sizeof harness->why, "%s", status->why ? status->why : "");
}

static void on_lags(void *context, int64_t lag_since_ms)
{
    struct harness *harness = context;
    harness->lag_since_ms = lag_since_ms;
}

static int by_name(struct harness_name *a, struct harness_name *b)
{
    return strcmp(a->name, b->name);
}

const char *harness_names(struct harness *harness)
{
    HASH_SORT(harness->names, by_name);
    buf_clear(&harness->shown);
    for (struct harness_name *name = harness->names; name; name = name->hh.next)
        buf_add_text(&harness->shown, name->name);
    return buf_text(&harness->shown);
}

/* ---- start and end ---- */

void harness_init(struct harness *harness, const char *field_selector)
{
    harness_init_seeded(harness, field_selector, 7);
}

static void init(struct harness *harness, const struct reflector_kind *what, uint64_t seed)
{
    static struct reflector_kind kind;
    kind = *what;
    const struct reflector_settings settings = {
        .kind = &kind,
        .page_size = 500,
        .silence_ms = HARNESS_SILENCE_MS,
        .max_object_bytes = HARNESS_OBJECT_MAX,
        .seed = seed,
    };
    const struct reflector_store store = {
        .list_begin = on_list_begin,
        .upsert = on_upsert,
        .too_large = on_too_large,
        .list_end = on_list_end,
        .removed = on_removed,
        .flush = on_flush,
        .context = harness,
        .lags = on_lags,
    };
    *harness = (struct harness){.now_ms = 1000};
    buf_init(&harness->shown, 1000);
    harness->reflector = reflector_new(&settings, &store);
}

void harness_init_seeded(struct harness *harness, const char *field_selector, uint64_t seed)
{
    const struct reflector_kind kind = {"pods", "/api/v1/pods", field_selector, DROP, NULL, NULL};
    init(harness, &kind, seed);
}

void harness_init_optional(struct harness *harness)
{
    static const char *const NO_OTHER[] = {NULL};
    const struct reflector_kind kind = {"pods", "/api/v1/pods", NULL, DROP, NULL, NO_OTHER};
    init(harness, &kind, 7);
}

void harness_init_versions(struct harness *harness)
{
    static const char *const OLDER[] = {"/api/v1beta2/pods", "/api/v1beta1/pods", NULL};
    const struct reflector_kind kind = {"pods", "/api/v1/pods", NULL, DROP, NULL, OLDER};
    init(harness, &kind, 7);
}

void harness_fini(struct harness *harness)
{
    while (harness->names)
        forget(harness, harness->names);
    reflector_free(harness->reflector);
    buf_fini(&harness->shown);
}

int harness_setup(void **state)
{
    *state = calloc(1, sizeof(struct harness));
    return *state ? 0 : -1;
}

int harness_teardown(void **state)
{
    harness_fini(*state);
    free(*state);
    return 0;
}

/* ---- expectations ---- */

static void assert_path(const char *path, const char *expected)
{
    size_t len = strlen(expected);
    bool is_prefix = len > 3 && strcmp(expected + len - 3, "...") == 0;
    if (!is_prefix || strncmp(path, expected, len - 3) != 0)
        assert_string_equal(path, expected);
}

void harness_expect_request(struct harness *harness, const char *path)
{
    struct reflector_action action = reflector_next(harness->reflector, harness->now_ms);
    assert_int_equal(action.want, REFLECTOR_REQUEST);
    assert_path(action.request.path, path);
    assert_string_equal(action.request.method, "GET");
    assert_null(action.request.body);
    (void)snprintf(harness->path, sizeof harness->path, "%s", action.request.path);
    harness->request = action.request;
    harness->request.path = harness->path;
    assert_int_equal(reflector_next(harness->reflector, harness->now_ms).want, REFLECTOR_WAIT);
}

void harness_expect_cancel(struct harness *harness)
{
    assert_int_equal(reflector_next(harness->reflector, harness->now_ms).want, REFLECTOR_CANCEL);
}

void harness_expect_wait(struct harness *harness, int64_t at_least_ms, int64_t at_most_ms)
{
    struct reflector_action action = reflector_next(harness->reflector, harness->now_ms);
    assert_int_equal(action.want, REFLECTOR_WAIT);
    assert_true(action.until_ms - harness->now_ms >= at_least_ms);
    assert_true(action.until_ms - harness->now_ms <= at_most_ms);
    harness->now_ms = action.until_ms;
}

void harness_expect_quiet(struct harness *harness, int64_t ms)
{
    struct reflector_action action = reflector_next(harness->reflector, harness->now_ms);
    assert_int_equal(action.want, REFLECTOR_WAIT);
    assert_true(action.until_ms - harness->now_ms >= ms);
}

/* ---- answers ---- */

void harness_head(struct harness *harness, unsigned status)
{
    reflector_head(harness->reflector, harness->now_ms, status, -1);
}

void harness_bytes(struct harness *harness, const char *text)
{
    harness_bytes_before_others(harness, text);
    reflector_drained(harness->reflector, harness->now_ms);
}

void harness_bytes_before_others(struct harness *harness, const char *text)
{
    reflector_bytes(harness->reflector, harness->now_ms, text, strlen(text));
}

void harness_many_bytes(struct harness *harness, size_t n)
{
    for (; n > 0; n--)
        harness_bytes(harness, "x");
}

void harness_end(struct harness *harness, enum kube_outcome outcome)
{
    reflector_end(harness->reflector, harness->now_ms, outcome,
                  outcome == KUBE_ANSWERED ? "" : "connection reset by peer");
}

void harness_refuse(struct harness *harness, unsigned status, int64_t retry_after_s,
                    const char *body)
{
    reflector_head(harness->reflector, harness->now_ms, status, retry_after_s);
    harness_bytes(harness, body);
    harness_end(harness, KUBE_ANSWERED);
}

void harness_answer(struct harness *harness, unsigned status, const char *body)
{
    harness_refuse(harness, status, -1, body);
}

void harness_answer_list(struct harness *harness, const char *version, const char *letters,
                         const char *continue_)
{
    struct buf text;
    buf_init(&text, 20000);
    buf_printf(&text,
               "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"%s\","
               "\"continue\":\"%s\"},\"items\":[",
               version, continue_);
    for (const char *letter = letters; *letter; letter++)
        buf_printf(&text,
                   "%s{\"metadata\":{\"name\":\"%c\",\"managedFields\":[{\"x\":1}],"
                   "\"resourceVersion\":\"1\"}}",
                   letter == letters ? "" : ",", *letter);
    buf_add_text(&text, "]}");
    harness_answer(harness, 200, buf_text(&text));
    buf_fini(&text);
}

void harness_event(struct harness *harness, const char *type, char letter, const char *version)
{
    struct buf text;
    buf_init(&text, 20000);
    buf_printf(&text,
               "{\"type\":\"%s\",\"object\":{\"metadata\":{\"name\":\"%c\","
               "\"managedFields\":[{\"x\":1}],\"resourceVersion\":\"%s\"}}}\n",
               type, letter, version);
    harness_bytes(harness, buf_text(&text));
    buf_fini(&text);
}

void harness_begin(struct harness *harness)
{
    harness_init(harness, NULL);
    harness_expect_request(harness, HARNESS_LIST);
    harness_answer_list(harness, "100", "ab", "");
    harness_expect_request(harness, HARNESS_WATCH("100"));
    harness_head(harness, 200);
    harness_expect_quiet(harness, HARNESS_SILENCE_MS);
}
