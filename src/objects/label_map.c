/* label_map: see label_map.h. */
#include "label_map.h"

#include "formats/json_get.h"
#include "quoted.h"

#include <stdlib.h>
#include <string.h>

static int compare_keys(const void *a, const void *b)
{
    return strcmp(((const struct label *)a)->key, ((const struct label *)b)->key);
}

int label_map_read(const json_t *object, const char *member, struct arena *arena,
                   struct label_map *ret_map, struct err *err)
{
    json_t *values = NULL;
    int r = json_get_object(object, member, &values, err);
    if (r < 0)
        return r;
    struct label_map map = {ARENA_ARRAY(arena, struct label, json_object_size(values)), 0};
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach (values, key, value) {
        if (!json_is_string(value) && !json_is_null(value))
            return err_set(err, EINVAL, "%s[%s]: is %s, should be a string", member,
                           quoted(arena, key), json_type_text(value));
        const char *text = json_is_string(value) ? json_string_value(value) : "";
        map.labels[map.n++] = (struct label){arena_strdup(arena, key), arena_strdup(arena, text)};
    }
    if (map.n > 1)
        qsort(map.labels, map.n, sizeof *map.labels, compare_keys);
    *ret_map = map;
    return 0;
}
