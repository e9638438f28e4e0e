/* element: see element.h. */
#include "element.h"

#include "formats/json_get.h"

static int wrong_type(const char *name, size_t index, const json_t *value, const char *right,
                      struct err *err)
{
    return err_set(err, EINVAL, "%s[%zu]: is %s, should be %s", name, index, json_type_text(value),
                   right);
}

int element_object(const json_t *array, size_t index, const char *name, json_t **ret_object,
                   struct err *err)
{
    json_t *value = json_array_get(array, index);
    if (!value || json_is_null(value))
        return 0;
    if (!json_is_object(value))
        return wrong_type(name, index, value, "an object", err);
    *ret_object = value;
    return 0;
}

int element_string(const json_t *array, size_t index, const char *name, const char **ret_text,
                   struct err *err)
{
    const json_t *value = json_array_get(array, index);
    if (!value || json_is_null(value))
        return 0;
    if (!json_is_string(value))
        return wrong_type(name, index, value, "a string", err);
    *ret_text = json_string_value(value);
    return 0;
}
