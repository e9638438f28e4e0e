/* fixture: an arena, the built-in policy, and JSON written with ' for ". */
#ifndef FIXTURE_H
#define FIXTURE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "formats/json_parse.h"
#include "formats/json_values.h"
#include "types/policy.h"
#include "unit.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

struct fixture {
    struct arena *arena;
    struct policy policy;
    struct err err;
    json_t *json; /* the last one read */
};

static inline int fixture_set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    if (!fixture)
        return -1;
    fixture->arena = arena_new();
    policy_init(&fixture->policy);
    *state = fixture;
    return 0;
}

static inline int fixture_tear_down(void **state)
{
    struct fixture *fixture = *state;
    json_decref(fixture->json);
    policy_fini(&fixture->policy);
    arena_free(fixture->arena);
    free(fixture);
    return 0;
}

/* Replaces ' by ". */
static inline const char *fixture_quotes(struct fixture *fixture, const char *text)
{
    char *copy = arena_strdup(fixture->arena, text);
    for (char *at = copy; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    return copy;
}

/* Valid until the next call. */
static inline json_t *fixture_json(struct fixture *fixture, const char *text)
{
    const char *copy = fixture_quotes(fixture, text);
    json_t *value = NULL;
    if (json_parse(copy, strlen(copy), JSON_DECODE_ANY, &JSON_OWN, &value, &fixture->err) < 0)
        fail_msg("%s in %s", fixture->err.text, copy);
    json_decref(fixture->json);
    fixture->json = value;
    return value;
}

#define FIXTURE_TEST(test) cmocka_unit_test_setup_teardown(test, fixture_set_up, fixture_tear_down)

#endif
