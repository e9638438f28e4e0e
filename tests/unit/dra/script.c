/* script: see script.h. */
#include "script.h"
#include "recount.h"
#include "unit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PARTS_MAX 32

struct parts {
    size_t n;
    const char *at[PARTS_MAX];
};

/* Splits a copy of the text. */
static struct parts split(struct arena *arena, const char *text, const char *at)
{
    struct parts parts = {0};
    char *rest = arena_strdup(arena, text);
    char *part = NULL;
    while ((part = strsep(&rest, at)) != NULL) {
        assert_true(parts.n < PARTS_MAX);
        if (*part)
            parts.at[parts.n++] = part;
    }
    return parts;
}

static const char *part(const struct parts *parts, size_t i)
{
    assert_true(i < parts->n);
    return i < parts->n ? parts->at[i] : "";
}

/* The text after the prefix, or NULL. */
static const char *after(const char *text, const char *prefix)
{
    const size_t len = strlen(prefix);
    return strncmp(text, prefix, len) == 0 ? text + len : NULL;
}

/* SET:COUNTER=N,COUNTER=N */
static struct counter_set read_set(struct arena *arena, const char *text)
{
    const struct parts set = split(arena, text, ":");
    const struct parts counters = split(arena, part(&set, 1), ",");
    struct device_counter *facts = ARENA_ARRAY(arena, struct device_counter, counters.n);
    for (size_t i = 0; i < counters.n; i++) {
        const struct parts pair = split(arena, part(&counters, i), "=");
        facts[i] = (struct device_counter){part(&pair, 0), strtoll(part(&pair, 1), NULL, 10)};
    }
    return (struct counter_set){.name = part(&set, 0), .counters = facts, .n_counters = counters.n};
}

static void read_property(struct arena *arena, const char *text, struct device_facts *device)
{
    const char *value = NULL;
    if ((value = after(text, "key=")) != NULL) {
        device->physical = value;
    } else if ((value = after(text, "profile=")) != NULL) {
        device->profile = value;
    } else if ((value = after(text, "node=")) != NULL) {
        device->node_name = value;
    } else if (strcmp(text, "tainted") == 0) {
        device->is_tainted = true;
    } else if (strcmp(text, "unknown") == 0) {
        device->not_judged = true;
    } else {
        struct counter_set *sets = ARENA_ARRAY(arena, struct counter_set, device->n_consumes + 1);
        for (size_t i = 0; i < device->n_consumes; i++)
            sets[i] = device->consumes[i];
        sets[device->n_consumes++] = read_set(arena, text);
        device->consumes = sets;
    }
}

static struct device_facts read_device(struct arena *arena, const char *text)
{
    const struct parts parts = split(arena, text, ";");
    struct device_facts device = {.name = part(&parts, 0),
                                  .model = SCRIPT_MODEL,
                                  .profile = "",
                                  .physical = "",
                                  .node_name = ""};
    for (size_t i = 1; i < parts.n; i++)
        read_property(arena, part(&parts, i), &device);
    return device;
}

/* VERB NAME POOL@NODE GENERATION COUNT */
static struct slice_facts read_head(struct arena *arena, const struct parts *words)
{
    const struct parts pool = split(arena, part(words, 2), "@");
    struct slice_facts slice = {.name = part(words, 1),
                                .driver = SCRIPT_DRIVER,
                                .pool = part(&pool, 0),
                                .node_name = pool.n > 1 ? part(&pool, 1) : "",
                                .generation = strtoll(part(words, 3), NULL, 10),
                                .n_slices = strtoll(part(words, 4), NULL, 10)};
    if (strcmp(slice.node_name, "*") == 0) {
        slice.node_name = "";
        slice.per_device = true;
    }
    return slice;
}

static void put_slice(struct devices *devices, struct arena *arena, const struct parts *words)
{
    struct slice_facts slice = read_head(arena, words);
    struct device_facts *facts = ARENA_ARRAY(arena, struct device_facts, words->n);
    for (size_t i = 5; i < words->n; i++)
        facts[slice.n_devices++] = read_device(arena, part(words, i));
    slice.devices = facts;
    devices_upsert_slice(devices, &slice);
}

static void put_sets(struct devices *devices, struct arena *arena, const struct parts *words)
{
    struct slice_facts slice = read_head(arena, words);
    struct counter_set *sets = ARENA_ARRAY(arena, struct counter_set, words->n);
    for (size_t i = 5; i < words->n; i++)
        sets[slice.n_counter_sets++] = read_set(arena, part(words, i));
    slice.counter_sets = sets;
    devices_upsert_slice(devices, &slice);
}

static struct claim_result read_result(struct arena *arena, const char *text)
{
    const struct parts parts = split(arena, text, "/;");
    const char *property = parts.n > 2 ? part(&parts, 2) : "";
    return (struct claim_result){.driver = SCRIPT_DRIVER,
                                 .pool = part(&parts, 0),
                                 .device = part(&parts, 1),
                                 .is_admin = strcmp(property, "admin") == 0,
                                 .is_shared = strcmp(property, "shared") == 0};
}

static void put_claim(struct devices *devices, struct arena *arena, const struct parts *words)
{
    struct claim_result *results = ARENA_ARRAY(arena, struct claim_result, words->n);
    size_t n = 0;
    for (size_t i = 2; i < words->n; i++)
        results[n++] = read_result(arena, part(words, i));
    const struct claim_facts claim = {.namespace_ = "default",
                                      .name = part(words, 1),
                                      .uid = part(words, 1),
                                      .is_allocated = n > 0,
                                      .results = results,
                                      .n_results = n,
                                      .extended_for_uid = ""};
    devices_upsert_claim(devices, &claim);
}

static const char *unless_any(const char *word)
{
    return strcmp(word, "*") == 0 ? NULL : word;
}

static void put_taint(struct devices *devices, const struct parts *words)
{
    const struct device_taint_facts rule = {.name = part(words, 1),
                                            .driver = unless_any(part(words, 2)),
                                            .pool = unless_any(part(words, 3)),
                                            .device = unless_any(part(words, 4))};
    devices_upsert_taint(devices, &rule);
}

static void delete_object(struct devices *devices, const char *kind, const char *name)
{
    if (strcmp(kind, "slice") == 0)
        devices_delete_slice(devices, name);
    else if (strcmp(kind, "claim") == 0)
        devices_delete_claim(devices, "default", name);
    else
        devices_delete_taint(devices, name);
}

static void run_line(struct devices *devices, const char *line)
{
    struct arena *arena = arena_new();
    const struct parts words = split(arena, line, " ");
    const char *verb = part(&words, 0);
    if (strcmp(verb, "slice") == 0) {
        put_slice(devices, arena, &words);
    } else if (strcmp(verb, "sets") == 0) {
        put_sets(devices, arena, &words);
    } else if (strcmp(verb, "claim") == 0) {
        put_claim(devices, arena, &words);
    } else if (strcmp(verb, "taint") == 0) {
        put_taint(devices, &words);
    } else if (strcmp(verb, "delete") == 0) {
        delete_object(devices, part(&words, 1), part(&words, 2));
    } else {
        assert_string_equal(verb, "keep");
        devices_keep_slice(devices, part(&words, 2));
    }
    arena_free(arena);
}

void script_run(struct devices *devices, const char *lines)
{
    struct arena *arena = arena_new();
    const struct parts parts = split(arena, lines, "\n");
    for (size_t i = 0; i < parts.n; i++)
        run_line(devices, part(&parts, i));
    while (devices_take_changed(devices)) {
    }
    struct err err = {""};
    if (devices_recount(devices, &err) > 0)
        fail_msg("%s", err.text);
    arena_free(arena);
}

static const char *with_number(struct arena *arena, const char *text, const char *name, int64_t n)
{
    const size_t len = strlen(text);
    const char *between = len == 0 || text[len - 1] == ' ' ? "" : ", ";
    return n == 0 ? text : arena_printf(arena, "%s%s%" PRId64 " %s", text, between, n, name);
}

const char *script_node(const struct devices *devices, const char *node_name, struct arena *arena)
{
    const char *text = "";
    size_t n = 0;
    const struct device_group *group = devices_on_node(devices, node_name, &n);
    if (n == 0)
        return text;
    text = with_number(arena, text, "total", group->total);
    text = with_number(arena, text, "allocated", group->allocated);
    text = with_number(arena, text, "free", group->free);
    text = with_number(arena, text, "tainted", group->tainted);
    text = with_number(arena, text, "blocked", group->blocked);
    text = with_number(arena, text, "incomplete", group->incomplete);
    text = with_number(arena, text, "invalid", group->invalid);
    text = with_number(arena, text, "partitioned", group->partitioned);
    for (size_t i = 0; i < group->n_models; i++) {
        const struct device_model *model = &group->models[i];
        if (!model->is_partition)
            continue;
        text = arena_printf(arena, "%s; %s: ", text, strstr(model->name, "MIG"));
        text = with_number(arena, text, "total", model->total);
        text = with_number(arena, text, "allocated", model->allocated);
        text = with_number(arena, text, "free", model->free);
    }
    return text;
}
