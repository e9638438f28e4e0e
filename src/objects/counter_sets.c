/* counter_sets: see counter_sets.h. */
#include "counter_sets.h"

#include "element.h"
#include "formats/json_get.h"
#include "meta.h"
#include "quantity_json.h"
#include "quoted.h"
#include "types/quantity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Kubernetes 1.33 to 1.37 allow at most so many, or fewer. */
#define SETS_MAX 32
#define COUNTERS_MAX 32

int counter_amount(const json_t *value, int64_t *ret_amount, struct err *err)
{
    int r = quantity_json_amount(value, "", ret_amount, err);
    if (r != -ERANGE)
        return r;
    *ret_amount = INT64_MAX;
    return 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct device_counter *)a)->name,
                  ((const struct device_counter *)b)->name);
}

static bool is_whole(const json_t *value)
{
    char number[QUANTITY_JSON_NUMBER_BYTES];
    const char *text = "";
    int64_t amount = 0;
    struct err err;
    return quantity_json_text(value, number, &text, &err) == 0 &&
           quantity_whole(text, &amount, &err) != -EINVAL;
}

static int read_counters(const json_t *object, struct arena *arena, struct counter_set *set,
                         bool *ret_is_rounded, struct err *err)
{
    json_t *values = NULL;
    int r = json_get_object(object, "counters", &values, err);
    const size_t n = json_object_size(values);
    if (r < 0)
        return r;
    if (n > COUNTERS_MAX)
        return err_set(err, EINVAL, "counters: are %zu, should be at most %d", n, COUNTERS_MAX);
    struct device_counter *counters = ARENA_ARRAY(arena, struct device_counter, n);
    const char *name = NULL;
    json_t *value = NULL;
    size_t i = 0;
    json_object_foreach (values, name, value) {
        const json_t *amount = json_member(value, "value");
        counters[i].name = arena_strdup(arena, name);
        if ((r = counter_amount(amount, &counters[i++].amount, err)) < 0) {
            err_prefix(err, "counters[%s].value: ", quoted(arena, name));
            return r;
        }
        *ret_is_rounded |= !is_whole(amount);
    }
    if (n > 1)
        qsort(counters, n, sizeof *counters, compare_names);
    set->counters = counters;
    set->n_counters = n;
    return 0;
}

static int read_set(const json_t *object, const char *name_key, struct arena *arena,
                    struct counter_set *ret_set, bool *ret_is_rounded, struct err *err)
{
    struct counter_set set = {.name = ""};
    int r = meta_name(object, name_key, arena, &set.name, err);
    if (r == 0 && !set.name[0])
        r = err_set(err, EINVAL, "%s: is missing", name_key);
    if (r == 0)
        r = read_counters(object, arena, &set, ret_is_rounded, err);
    if (r == 0)
        *ret_set = set;
    return r;
}

int counter_sets_read(const json_t *object, const char *member, const char *name_key,
                      struct arena *arena, struct counter_sets *ret_sets, struct err *err)
{
    json_t *list = NULL;
    int r = json_get_array(object, member, &list, err);
    const size_t n = json_array_size(list);
    if (r < 0)
        return r;
    if (n > SETS_MAX)
        return err_set(err, EINVAL, "%s: has %zu sets, should have at most %d", member, n,
                       SETS_MAX);
    struct counter_set *sets = ARENA_ARRAY(arena, struct counter_set, n);
    bool is_rounded = false;
    for (size_t i = 0; i < n; i++) {
        json_t *item = NULL;
        if ((r = element_object(list, i, member, &item, err)) < 0)
            return r;
        if ((r = read_set(item, name_key, arena, &sets[i], &is_rounded, err)) < 0) {
            err_prefix(err, "%s[%zu].", member, i);
            return r;
        }
    }
    *ret_sets = (struct counter_sets){sets, n, is_rounded};
    return 0;
}
