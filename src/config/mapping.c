/* mapping: see mapping.h. */
#include "mapping.h"
#include "base/nearest.h"
#include "formats/json_values.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

void mapping_item(const struct yaml_value *list, size_t i, struct mapping_spot *ret_spot)
{
    (void)snprintf(ret_spot->key, sizeof ret_spot->key, "%zu", i);
    (void)snprintf(ret_spot->path, sizeof ret_spot->path, "%s[%zu]", list->path, i);
    ret_spot->at = (struct yaml_value){list->value, ret_spot->key, ret_spot->path,
                                       json_array_get(list->value, i)};
}

void mapping_member(const struct yaml_value *map, const char *key, struct mapping_spot *ret_spot)
{
    (void)snprintf(ret_spot->path, sizeof ret_spot->path, "%s.%s", map->path, key);
    ret_spot->at =
        (struct yaml_value){map->value, key, ret_spot->path, json_object_get(map->value, key)};
}

static int refuse_key(const struct mapping_reading *reading, const struct yaml_value *at,
                      const struct mapping_key *members, size_t n)
{
    char known[120] = "";
    struct nearest nearest = {.asked = at->key, .least = SIZE_MAX};
    for (size_t i = 0; i < n; i++) {
        const size_t len = strlen(known);
        (void)snprintf(known + len, sizeof known - len, "%s%s", i > 0 ? ", " : "", members[i].key);
        (void)nearest_try(&nearest, members[i].key);
    }
    const struct yaml_value key_only = {at->container, at->key, at->path, NULL};
    if (nearest.found)
        return yaml_fault(reading->file, &key_only, reading->err, "unknown key; did you mean %s?",
                          nearest.found);
    return yaml_fault(reading->file, &key_only, reading->err, "unknown key; known here: %s", known);
}

int mapping_text(const struct mapping_reading *reading, const struct yaml_value *at,
                 syntax_check *check, const char **ret_text)
{
    const char *text = json_string_value(at->value);
    if (!text)
        return yaml_wrong(reading->file, at, "a string", reading->err);
    const char *right = check(text);
    if (right)
        return yaml_wrong(reading->file, at, right, reading->err);
    *ret_text = arena_strdup(reading->arena, text);
    return 0;
}

static int read_member(const struct mapping_reading *reading, const struct mapping_key *member,
                       const struct yaml_value *at, void *target)
{
    if (json_is_null(at->value))
        return 0;
    return member->read ? member->read(reading, at, target)
                        : mapping_text(reading, at, member->check,
                                       (const char **)((char *)target + member->at));
}

int mapping_read(const struct mapping_reading *reading, const struct yaml_value *map,
                 const struct mapping_key *members, size_t n, void *target)
{
    const char *key = NULL;
    json_t *value = NULL;
    if (!json_is_object(map->value))
        return yaml_wrong(reading->file, map, "a mapping", reading->err);
    json_object_foreach (map->value, key, value) {
        struct mapping_spot spot;
        size_t i = 0;
        mapping_member(map, key, &spot);
        while (i < n && strcmp(members[i].key, key) != 0)
            i++;
        if (i == n)
            return refuse_key(reading, &spot.at, members, n);
        int r = read_member(reading, &members[i], &spot.at, target);
        if (r < 0)
            return r;
    }
    return 0;
}

int mapping_items(const struct mapping_reading *reading, const struct yaml_value *list,
                  mapping_reader *read, void *target)
{
    int r = 0;
    for (size_t i = 0; i < json_array_size(list->value) && r == 0; i++) {
        struct mapping_spot spot;
        mapping_item(list, i, &spot);
        r = read(reading, &spot.at, target);
    }
    return r;
}

int mapping_check_list(const struct mapping_reading *reading, const struct yaml_value *list,
                       const char *of_what, size_t *ret_n)
{
    char right[60];
    (void)snprintf(right, sizeof right, "a list of %s", of_what);
    if (!json_is_array(list->value))
        return yaml_wrong(reading->file, list, right, reading->err);
    if (json_array_size(list->value) == 0)
        return yaml_fault(reading->file, list, reading->err, "is empty, should be %s, at least one",
                          right);
    *ret_n = json_array_size(list->value);
    return 0;
}

int mapping_texts(const struct mapping_reading *reading, const struct yaml_value *list,
                  syntax_check *check, const char *const **ret_texts, size_t *ret_n)
{
    size_t n = 0;
    int r = mapping_check_list(reading, list, "strings", &n);
    if (r < 0)
        return r;
    const char **texts = ARENA_ARRAY(reading->arena, const char *, n);
    for (size_t i = 0; i < n; i++) {
        struct mapping_spot spot;
        mapping_item(list, i, &spot);
        if ((r = mapping_text(reading, &spot.at, check, &texts[i])) < 0)
            return r;
        for (size_t j = 0; j < i; j++) {
            if (strcmp(texts[i], texts[j]) == 0)
                return yaml_fault(reading->file, &spot.at, reading->err,
                                  "is \"%s\", a duplicate of %s[%zu], should be listed once",
                                  texts[i], list->path, j);
        }
    }
    *ret_texts = texts;
    *ret_n = n;
    return 0;
}

#define N_OF(array) (sizeof(array) / sizeof *(array))

static int read_operator(const struct mapping_reading *reading, const struct yaml_value *at,
                         void *target)
{
    static const char *const NAMES[] = {[SELECTOR_IN] = "In",
                                        [SELECTOR_NOT_IN] = "NotIn",
                                        [SELECTOR_EXISTS] = "Exists",
                                        [SELECTOR_DOES_NOT_EXIST] = "DoesNotExist"};
    struct requirement *requirement = target;
    const char *text = json_string_value(at->value);
    for (size_t i = 0; text && i < N_OF(NAMES); i++) {
        if (strcmp(text, NAMES[i]) != 0)
            continue;
        requirement->op = (enum selector_operator)i;
        return 0;
    }
    return yaml_wrong(reading->file, at, "In, NotIn, Exists or DoesNotExist", reading->err);
}

static int read_values(const struct mapping_reading *reading, const struct yaml_value *at,
                       void *target)
{
    struct requirement *requirement = target;
    return mapping_texts(reading, at, syntax_label_value, &requirement->values,
                         &requirement->n_values);
}

static int read_expression(const struct mapping_reading *reading, const struct yaml_value *at,
                           struct requirement *requirement)
{
    static const struct mapping_key MEMBERS[] = {
        {"key", NULL, syntax_label_key, offsetof(struct requirement, key)},
        {.key = "operator", .read = read_operator},
        {.key = "values", .read = read_values}};
    const bool says_operator =
        !json_is_null(json_member(at->value, "operator")) && json_member(at->value, "operator");
    int r = mapping_read(reading, at, MEMBERS, N_OF(MEMBERS), requirement);
    if (r < 0)
        return r;
    const bool takes_values = requirement->op == SELECTOR_IN || requirement->op == SELECTOR_NOT_IN;
    if (!requirement->key || !says_operator)
        return yaml_fault(reading->file, at, reading->err, "should have key and operator");
    if (takes_values != (requirement->n_values > 0))
        return yaml_fault(reading->file, at, reading->err,
                          takes_values ? "should have values, as the operator is In or NotIn"
                                       : "should have no values, as the operator is Exists or "
                                         "DoesNotExist");
    return 0;
}

/* Grows a selector's requirements, which come from two lists. */
static struct requirement *more_requirements(const struct mapping_reading *reading,
                                             struct selector_term *term, size_t n_more)
{
    struct arena *arena = reading->arena;
    struct requirement *all = ARENA_ARRAY(arena, struct requirement, term->n_requirements + n_more);
    for (size_t i = 0; i < term->n_requirements; i++)
        all[i] = term->requirements[i];
    struct requirement *more = &all[term->n_requirements];
    *term = (struct selector_term){all, term->n_requirements + n_more};
    return more;
}

static int read_expressions(const struct mapping_reading *reading, const struct yaml_value *at,
                            void *target)
{
    if (!json_is_array(at->value))
        return yaml_wrong(reading->file, at, "a list of mappings", reading->err);
    const size_t n = json_array_size(at->value);
    struct requirement *requirements = more_requirements(reading, target, n);
    for (size_t i = 0; i < n; i++) {
        struct mapping_spot spot;
        mapping_item(at, i, &spot);
        int r = read_expression(reading, &spot.at, &requirements[i]);
        if (r < 0)
            return r;
    }
    return 0;
}

static int read_match_labels(const struct mapping_reading *reading, const struct yaml_value *at,
                             void *target)
{
    struct arena *arena = reading->arena;
    const char *key = NULL;
    json_t *value = NULL;
    if (!json_is_object(at->value))
        return yaml_wrong(reading->file, at, "a mapping of label keys to values", reading->err);
    struct requirement *requirement =
        more_requirements(reading, target, json_object_size(at->value));
    json_object_foreach (at->value, key, value) {
        struct mapping_spot spot;
        const char *right = syntax_label_key(key);
        const char **values = ARENA_ARRAY(arena, const char *, 1);
        mapping_member(at, key, &spot);
        const struct yaml_value key_only = {at->value, key, spot.path, NULL};
        if (right)
            return yaml_fault(reading->file, &key_only, reading->err,
                              "is not a label key, should be %s", right);
        int r = mapping_text(reading, &spot.at, syntax_label_value, &values[0]);
        if (r < 0)
            return r;
        *requirement++ = (struct requirement){
            .key = arena_strdup(arena, key), .op = SELECTOR_IN, .values = values, .n_values = 1};
    }
    return 0;
}

int selector_read(const struct mapping_reading *reading, const struct yaml_value *at,
                  struct selector_term *term)
{
    static const struct mapping_key MEMBERS[] = {
        {.key = "matchLabels", .read = read_match_labels},
        {.key = "matchExpressions", .read = read_expressions}};
    return mapping_read(reading, at, MEMBERS, N_OF(MEMBERS), term);
}
