/* selector_read: see selector_read.h. */
#include "selector_read.h"

#include "formats/json_get.h"

#include <string.h>

#define N_OF(array) (sizeof(array) / sizeof *(array))

static int read_expression_key(const struct mapping_reading *reading, const struct yaml_value *at,
                               void *target)
{
    struct requirement *requirement = target;
    return mapping_text(reading, at, syntax_label_key, &requirement->key);
}

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
        {"key", read_expression_key}, {"operator", read_operator}, {"values", read_values}};
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
    static const struct mapping_key MEMBERS[] = {{"matchLabels", read_match_labels},
                                                 {"matchExpressions", read_expressions}};
    return mapping_read(reading, at, MEMBERS, N_OF(MEMBERS), term);
}
