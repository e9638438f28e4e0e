/* ask: calls the api over a small cluster; answers as JSON or text. */
#ifndef ASK_H
#define ASK_H

#include "api/api.h"
#include "fake_exchange.h"
#include "formats/json_parse.h"
#include "formats/json_values.h"
#include "small_cluster.h"
#include "unit.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define ASK_MAX_REPLICAS 20

struct ask {
    struct small_cluster cluster;
    struct api api;
    const char *path; /* of the next request; NULL: "/" */
};

static inline void ask_write_metrics(void *context, struct buf *out)
{
    (void)context;
    buf_add_text(out, "more 1\n");
}

static inline void ask_init(struct ask *ask, const char *cluster)
{
    small_cluster_init(&ask->cluster, cluster);
    ask->api = (struct api){
        .inventory = ask->cluster.inventory,
        .max_object_bytes = 1 << 16,
        .max_object_values = 50000,
        .request_budget = {.max_values = 200000, .max_tree_bytes = 32 << 20, .max_depth = 110},
        .max_replicas = ASK_MAX_REPLICAS,
        .more_metrics = ask_write_metrics,
    };
}

static inline void ask_fini(struct ask *ask)
{
    small_cluster_fini(&ask->cluster);
}

static inline int ask_set_up(void **state)
{
    struct ask *ask = calloc(1, sizeof *ask);
    if (!ask)
        return -1;
    ask_init(ask, SMALL_CLUSTER);
    *state = ask;
    return 0;
}

static inline int ask_tear_down(void **state)
{
    ask_fini(*state);
    free(*state);
    return 0;
}

/* The caller owns it (free()). Fails unless status and type of the answer match. */
static inline char *ask_text(struct ask *ask, handle_exchange *handle, const char *body,
                             const char *output, unsigned status, const char *content_type)
{
    static const char *const WIDE[][2] = {{"wide", "true"}, {NULL, NULL}};
    const bool wide = output && strcmp(output, "wide") == 0;
    const struct fake_question question = {.body = body,
                                           .len = strlen(body),
                                           .output = wide ? "table" : output,
                                           .query = wide ? WIDE : NULL,
                                           .path = ask->path};
    struct fake_answer answer = fake_ask(handle, &ask->api, &question);
    if (answer.status != status)
        fail_msg("status %u, not %u: %s", answer.status, status, answer.body);
    assert_string_equal(answer.content_type, content_type);
    assert_int_equal(strlen(answer.body), answer.len);
    return answer.body;
}

/* The caller owns it (json_decref()). */
static inline json_t *ask_json(struct ask *ask, handle_exchange *handle, const char *body)
{
    struct err err;
    json_t *value = NULL;
    char *text = ask_text(ask, handle, body, NULL, 200, "application/json");
    if (json_parse(text, strlen(text), 0, &JSON_OWN, &value, &err) < 0)
        fail_msg("%s in %s", err.text, text);
    free(text);
    return value;
}

/* Compares value with expected, JSON with ' for ". */
static inline void assert_json(const json_t *value, const char *expected)
{
    struct err err;
    json_t *parsed = NULL;
    char *copy = strdup(expected);
    assert_non_null(copy);
    for (char *at = copy; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    if (json_parse(copy, strlen(copy), JSON_DECODE_ANY, &JSON_OWN, &parsed, &err) < 0)
        fail_msg("%s in %s", err.text, copy);
    if (!json_equal(value, parsed)) {
        char *shown = json_dumps(value, JSON_ENCODE_ANY);
        fail_msg("%s\nis not\n%s", shown, copy);
    }
    json_decref(parsed);
    free(copy);
}

static inline const json_t *ask_member(const json_t *list, size_t i, const char *key)
{
    return json_object_get(json_array_get(list, i), key);
}

#define ASK_TEST(test) cmocka_unit_test_setup_teardown(test, ask_set_up, ask_tear_down)

#endif
