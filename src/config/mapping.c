/* mapping: see mapping.h. */
#include "mapping.h"

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
    for (size_t i = 0; i < n; i++) {
        const size_t len = strlen(known);
        (void)snprintf(known + len, sizeof known - len, "%s%s", i > 0 ? ", " : "", members[i].key);
    }
    const struct yaml_value key_only = {at->container, at->key, at->path, NULL};
    return yaml_fault(reading->file, &key_only, reading->err, "unknown key; known here: %s", known);
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
        int r = json_is_null(value) ? 0 : members[i].read(reading, &spot.at, target);
        if (r < 0)
            return r;
    }
    return 0;
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
