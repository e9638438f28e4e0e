/* live_cluster: an inventory that a test feeds like a reflector: objects are JSON with ' for ". */
#ifndef LIVE_CLUSTER_H
#define LIVE_CLUSTER_H

#include "base/clock.h"
#include "base/log.h"
#include "formats/json_parse.h"
#include "formats/json_values.h"
#include "inventory/kinds.h"
#include "inventory/live.h"
#include "unit.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LIVE_MAX_NODES 4
#define LIVE_MAX_PODS 200
#define LIVE_SERVER "https://127.0.0.1:6443"

struct live_cluster {
    struct policy policy;
    struct inventory *inventory;
    struct reflector_store stores[N_CLUSTER_KINDS];
    struct reflector_status statuses[N_CLUSTER_KINDS];
};

static inline void live_init_limited(struct live_cluster *live,
                                     const struct inventory_limits *limits)
{
    log_configure(LOG_ERROR, LOG_KEY_VALUE);
    *live = (struct live_cluster){0};
    policy_init(&live->policy);
    live->inventory = inventory_new(&live->policy, limits);
    inventory_go_live(live->inventory, LIVE_SERVER);
    for (size_t i = 0; i < N_CLUSTER_KINDS; i++)
        live->stores[i] = inventory_store(live->inventory, i);
}

static inline void live_init(struct live_cluster *live)
{
    static const struct inventory_limits LIMITS = {
        .max_object_bytes = 4096, .max_nodes = LIVE_MAX_NODES, .max_pods = LIVE_MAX_PODS};
    live_init_limited(live, &LIMITS);
}

static inline void live_fini(struct live_cluster *live)
{
    inventory_free(live->inventory);
    policy_fini(&live->policy);
}

/* text with the number for every '#'. */
static inline const char *live_numbered(const char *text, size_t number)
{
    static char numbered[1000];
    size_t len = 0;
    for (; *text; text++) {
        assert_true(len + 25 < sizeof numbered);
        if (*text == '#')
            len += (size_t)snprintf(&numbered[len], 25, "%zu", number);
        else
            numbered[len++] = *text;
    }
    numbered[len] = '\0';
    return numbered;
}

static inline void live_flush(struct live_cluster *live, enum cluster_kind kind)
{
    live->stores[kind].flush(live->stores[kind].context, &live->statuses[kind]);
}

static inline json_t *live_object(const char *text)
{
    struct err err;
    json_t *object = NULL;
    char *copy = strdup(text);
    assert_non_null(copy);
    for (char *at = copy; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    if (json_parse(copy, strlen(copy), JSON_DECODE_ANY, &JSON_OWN, &object, &err) < 0)
        fail_msg("%s in %s", err.text, copy);
    free(copy);
    return object;
}

/* Without a flush. */
static inline void live_put(struct live_cluster *live, enum cluster_kind kind, const char *text)
{
    json_t *object = live_object(text);
    live->stores[kind].upsert(live->stores[kind].context, object);
    json_decref(object);
}

static inline void live_upsert(struct live_cluster *live, enum cluster_kind kind, const char *text)
{
    live_put(live, kind, text);
    live_flush(live, kind);
}

/* part: the first members of the object. */
static inline void live_too_large(struct live_cluster *live, enum cluster_kind kind,
                                  const char *part)
{
    const struct json_over over = {.why = "is larger than 4096 bytes (limits.objectBytes)"};
    json_t *object = live_object(part);
    live->stores[kind].too_large(live->stores[kind].context, object, &over);
    json_decref(object);
    live_flush(live, kind);
}

static inline void live_remove(struct live_cluster *live, enum cluster_kind kind, const char *text)
{
    json_t *object = live_object(text);
    live->stores[kind].removed(live->stores[kind].context, object);
    json_decref(object);
    live_flush(live, kind);
}

/* The pod of the text is in phase Failed now. */
static inline void live_fail(struct live_cluster *live, const char *text)
{
    const struct reflector_store store = inventory_failed_pods(live->inventory);
    const struct reflector_status status = {.synced = true};
    json_t *object = live_object(text);
    store.upsert(store.context, object);
    store.flush(store.context, &status);
    json_decref(object);
}

static inline void live_begin(struct live_cluster *live, enum cluster_kind kind)
{
    live->stores[kind].list_begin(live->stores[kind].context);
}

static inline void live_end(struct live_cluster *live, enum cluster_kind kind)
{
    live->stores[kind].list_end(live->stores[kind].context);
    live->statuses[kind].synced = true;
    live->statuses[kind].fresh_ms = clock_ms();
    live_flush(live, kind);
}

/* A whole list; NULL ends objects. */
static inline void live_list(struct live_cluster *live, enum cluster_kind kind,
                             const char *const *objects)
{
    live_begin(live, kind);
    for (; *objects; objects++)
        live_put(live, kind, *objects);
    live_end(live, kind);
}
#define LIST(live, kind, ...) live_list((live), (kind), (const char *const[]){__VA_ARGS__, NULL})
#define LIST_NOTHING(live, kind) live_list((live), (kind), (const char *const[]){NULL})

static inline void live_list_nothing(struct live_cluster *live)
{
    for (int kind = 0; kind < N_CLUSTER_KINDS; kind++)
        LIST_NOTHING(live, (enum cluster_kind)kind);
}

/* why NULL: usable. */
static inline void live_check_usable(struct live_cluster *live, const char *why)
{
    struct err err = {""};
    assert_int_equal(inventory_usable(live->inventory, &err), why == NULL);
    assert_string_equal(err.text, why ? why : "");
}

static inline int live_set_up(void **state)
{
    struct live_cluster *live = calloc(1, sizeof *live);
    if (!live)
        return -1;
    live_init(live);
    *state = live;
    return 0;
}

static inline int live_tear_down(void **state)
{
    live_fini(*state);
    free(*state);
    return 0;
}

#define LIVE_TEST(test) cmocka_unit_test_setup_teardown(test, live_set_up, live_tear_down)

/* Objects. */
#define NODE(name, gpus)                                                                           \
    "{'metadata':{'name':'" name "'},'status':{'capacity':{'nvidia.com/gpu':'" gpus "'}}}"
#define POD_IN(namespace_, name, uid, node, gpus)                                                  \
    "{'metadata':{'name':'" name "','namespace':'" namespace_ "','uid':'" uid "'},"                \
    "'spec':{'nodeName':'" node "','containers':[{'name':'c','resources':{'limits':"               \
    "{'nvidia.com/gpu':'" gpus "'}}}]},'status':{'phase':'Running'}}"
#define POD(name, uid, node, gpus) POD_IN("ml", name, uid, node, gpus)
#define UNREADABLE_POD(name, uid)                                                                  \
    "{'metadata':{'name':'" name "','namespace':'ml','uid':'" uid "'},'spec':{'containers':7}}"
#define UNREADABLE_NODE(name) "{'metadata':{'name':'" name "'},'status':7}"
#define NAMED(name) "{'metadata':{'name':'" name "'}}"
#define CLASS(name, value) "{'metadata':{'name':'" name "'},'value':" value "}"

#endif
