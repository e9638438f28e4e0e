/* rig: see rig.h. */
#include "rig.h"

#include "base/mem.h"
#include "base/table.h"
#include "formats/json_get.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

struct rig_name {
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

static void forget(struct rig *rig, struct rig_name *name)
{
    HASH_DEL(rig->names, name);
    free(name->name);
    free(name);
}

static void on_list_begin(void *context)
{
    struct rig *rig = context;
    rig->is_listing = true;
    for (struct rig_name *name = rig->names; name; name = name->hh.next)
        name->seen = false;
}

static void on_upsert(void *context, const json_t *object)
{
    struct rig *rig = context;
    struct rig_name *name = NULL;
    const char *text = name_of(object);
    HASH_FIND_STR(rig->names, text, name);
    if (!name) {
        name = MEM_NEW(struct rig_name);
        name->name = mem_strdup(text);
        HASH_ADD_KEYPTR(hh, rig->names, name->name, strlen(name->name), name);
    }
    name->seen = true;
}

static void on_too_large(void *context, const json_t *part)
{
    struct rig *rig = context;
    rig->n_too_large++;
    on_upsert(rig, part);
}

static void on_list_end(void *context)
{
    struct rig *rig = context;
    struct rig_name *name = NULL;
    struct rig_name *next = NULL;
    assert_true(rig->is_listing);
    rig->is_listing = false;
    HASH_ITER (hh, rig->names, name, next) {
        if (!name->seen)
            forget(rig, name);
    }
}

static void on_removed(void *context, const json_t *object)
{
    struct rig *rig = context;
    struct rig_name *name = NULL;
    HASH_FIND_STR(rig->names, name_of(object), name);
    if (name)
        forget(rig, name);
}

static void on_flush(void *context, const struct reflector_status *status)
{
    struct rig *rig = context;
    rig->n_flushes++;
    rig->n_told += status->is_news;
    rig->status = *status;
    assert_true(!status->why || strlen(status->why) < sizeof rig->why);
    (void)snprintf(rig->why, sizeof rig->why, "%s", status->why ? status->why : "");
}

static void on_lags(void *context, int64_t lag_since_ms)
{
    struct rig *rig = context;
    rig->lag_since_ms = lag_since_ms;
}

static int by_name(struct rig_name *a, struct rig_name *b)
{
    return strcmp(a->name, b->name);
}

const char *rig_names(struct rig *rig)
{
    HASH_SORT(rig->names, by_name);
    buf_clear(&rig->shown);
    for (struct rig_name *name = rig->names; name; name = name->hh.next)
        buf_add_text(&rig->shown, name->name);
    return buf_text(&rig->shown);
}

/* ---- its life ---- */

void rig_init(struct rig *rig, const char *field_selector)
{
    rig_init_seeded(rig, field_selector, 7);
}

static void init(struct rig *rig, const struct reflector_kind *what, uint64_t seed)
{
    static struct reflector_kind kind;
    kind = *what;
    const struct reflector_settings settings = {
        .kind = &kind,
        .page_size = 500,
        .silence_ms = RIG_SILENCE_MS,
        .max_object_bytes = RIG_OBJECT_MAX,
        .seed = seed,
    };
    const struct reflector_store store = {
        .list_begin = on_list_begin,
        .upsert = on_upsert,
        .too_large = on_too_large,
        .list_end = on_list_end,
        .removed = on_removed,
        .flush = on_flush,
        .context = rig,
        .lags = on_lags,
    };
    *rig = (struct rig){.now_ms = 1000};
    buf_init(&rig->shown, 1000);
    rig->reflector = reflector_new(&settings, &store);
}

void rig_init_seeded(struct rig *rig, const char *field_selector, uint64_t seed)
{
    const struct reflector_kind kind = {"pods", "/api/v1/pods", field_selector, DROP, false};
    init(rig, &kind, seed);
}

void rig_init_optional(struct rig *rig)
{
    const struct reflector_kind kind = {"pods", "/api/v1/pods", NULL, DROP, true};
    init(rig, &kind, 7);
}

void rig_fini(struct rig *rig)
{
    while (rig->names)
        forget(rig, rig->names);
    reflector_free(rig->reflector);
    buf_fini(&rig->shown);
}

/* ---- what it wants ---- */

static void assert_path(const char *path, const char *expected)
{
    size_t len = strlen(expected);
    bool is_prefix = len > 3 && strcmp(expected + len - 3, "...") == 0;
    if (!is_prefix || strncmp(path, expected, len - 3) != 0)
        assert_string_equal(path, expected);
}

void rig_expect_request(struct rig *rig, const char *path)
{
    struct reflector_action action = reflector_next(rig->reflector, rig->now_ms);
    assert_int_equal(action.want, REFLECTOR_REQUEST);
    assert_path(action.request.path, path);
    assert_string_equal(action.request.method, "GET");
    assert_null(action.request.body);
    (void)snprintf(rig->path, sizeof rig->path, "%s", action.request.path);
    rig->request = action.request;
    rig->request.path = rig->path;
    assert_int_equal(reflector_next(rig->reflector, rig->now_ms).want, REFLECTOR_WAIT);
}

void rig_expect_cancel(struct rig *rig)
{
    assert_int_equal(reflector_next(rig->reflector, rig->now_ms).want, REFLECTOR_CANCEL);
}

void rig_expect_wait(struct rig *rig, int64_t at_least_ms, int64_t at_most_ms)
{
    struct reflector_action action = reflector_next(rig->reflector, rig->now_ms);
    assert_int_equal(action.want, REFLECTOR_WAIT);
    assert_true(action.until_ms - rig->now_ms >= at_least_ms);
    assert_true(action.until_ms - rig->now_ms <= at_most_ms);
    rig->now_ms = action.until_ms;
}

void rig_expect_quiet(struct rig *rig, int64_t ms)
{
    struct reflector_action action = reflector_next(rig->reflector, rig->now_ms);
    assert_int_equal(action.want, REFLECTOR_WAIT);
    assert_true(action.until_ms - rig->now_ms >= ms);
}

/* ---- what comes of it ---- */

void rig_head(struct rig *rig, unsigned status)
{
    reflector_head(rig->reflector, rig->now_ms, status, -1);
}

void rig_bytes(struct rig *rig, const char *text)
{
    rig_bytes_before_others(rig, text);
    reflector_drained(rig->reflector, rig->now_ms);
}

void rig_bytes_before_others(struct rig *rig, const char *text)
{
    reflector_bytes(rig->reflector, rig->now_ms, text, strlen(text));
}

void rig_many_bytes(struct rig *rig, size_t n)
{
    for (; n > 0; n--)
        rig_bytes(rig, "x");
}

void rig_end(struct rig *rig, enum kube_outcome outcome)
{
    reflector_end(rig->reflector, rig->now_ms, outcome,
                  outcome == KUBE_ANSWERED ? "" : "connection reset by peer");
}

void rig_refuse(struct rig *rig, unsigned status, int64_t retry_after_s, const char *body)
{
    reflector_head(rig->reflector, rig->now_ms, status, retry_after_s);
    rig_bytes(rig, body);
    rig_end(rig, KUBE_ANSWERED);
}

void rig_answer(struct rig *rig, unsigned status, const char *body)
{
    rig_refuse(rig, status, -1, body);
}

void rig_answer_list(struct rig *rig, const char *version, const char *letters,
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
    rig_answer(rig, 200, buf_text(&text));
    buf_fini(&text);
}

void rig_event(struct rig *rig, const char *type, char letter, const char *version)
{
    struct buf text;
    buf_init(&text, 20000);
    buf_printf(&text,
               "{\"type\":\"%s\",\"object\":{\"metadata\":{\"name\":\"%c\","
               "\"managedFields\":[{\"x\":1}],\"resourceVersion\":\"%s\"}}}\n",
               type, letter, version);
    rig_bytes(rig, buf_text(&text));
    buf_fini(&text);
}

void rig_begin(struct rig *rig)
{
    rig_init(rig, NULL);
    rig_expect_request(rig, RIG_LIST);
    rig_answer_list(rig, "100", "ab", "");
    rig_expect_request(rig, RIG_WATCH("100"));
    rig_head(rig, 200);
    rig_expect_quiet(rig, RIG_SILENCE_MS);
}
