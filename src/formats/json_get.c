/* json_get: see include/formats/json_values.h. */
#include "formats/json_values.h"

#include "base/mem.h"

#include <errno.h>
#include <string.h>

/* With seed 0 jansson would choose one itself. */
void json_set_seed(size_t seed)
{
    json_object_seed(seed != 0 ? seed : 1);
}

/* Longer strings are cut in messages. */
#define SHOWN_BYTES_MAX 60

const char *json_type_text(const json_t *value)
{
    if (!value)
        return "nothing";
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
        return "a whole number";
    case JSON_REAL:
        return "a number with a fraction";
    case JSON_TRUE:
    case JSON_FALSE:
        return "true or false";
    case JSON_NULL:
        return "null";
    }
    return "nothing";
}

json_t *json_member(const json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    return json_is_null(value) ? NULL : value;
}

/* Bytes to show, never splitting a UTF-8 character. */
static size_t shown_len(const char *text, size_t len)
{
    if (len <= SHOWN_BYTES_MAX)
        return len;
    size_t shown = SHOWN_BYTES_MAX;
    while (shown > 0 && ((unsigned char)text[shown] & 0xc0) == 0x80)
        shown--;
    return shown;
}

/* The buffer's maximum bounds the message. */
static void add_string(struct buf *out, const json_t *value)
{
    char shown[SHOWN_BYTES_MAX + 1];
    size_t len = json_string_length(value);
    size_t n = shown_len(json_string_value(value), len);
    memcpy(shown, json_string_value(value), n);
    shown[n] = '\0';
    buf_add_text(out, "the string ");
    buf_add_quoted(out, shown);
    if (n < len)
        buf_add_text(out, "...");
}

/* As jansson writes it: 3.0 stays 3.0. */
static void add_real(struct buf *out, const json_t *value)
{
    char *text CLEANUP(mem_free_ptr) = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    buf_printf(out, "the number %s", text ? text : "?");
}

void json_add_shown(const json_t *value, struct buf *out)
{
    if (json_is_string(value))
        add_string(out, value);
    else if (json_is_integer(value))
        buf_printf(out, "the number %" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        add_real(out, value);
    else if (json_is_boolean(value))
        buf_add_text(out, json_is_true(value) ? "true" : "false");
    else
        buf_add_text(out, json_type_text(value));
}

static int wrong_type(const char *key, const json_t *value, const char *right, struct err *err)
{
    struct buf shown;
    buf_init(&shown, ERR_TEXT_MAX);
    json_add_shown(value, &shown);
    int r = err_set(err, EINVAL, "%s: is %s, should be %s", key, buf_text(&shown), right);
    buf_fini(&shown);
    return r;
}

int json_get_string(const json_t *object, const char *key, const char **ret_text, struct err *err)
{
    const json_t *value = json_member(object, key);
    if (!value)
        return 0;
    if (!json_is_string(value))
        return wrong_type(key, value, "a string", err);
    *ret_text = json_string_value(value);
    return 0;
}

int json_get_bool(const json_t *object, const char *key, bool *ret_value, struct err *err)
{
    const json_t *value = json_member(object, key);
    if (!value)
        return 0;
    if (!json_is_boolean(value))
        return wrong_type(key, value, "true or false", err);
    *ret_value = json_is_true(value);
    return 0;
}

int json_get_integer(const json_t *object, const char *key, int64_t *ret_value, struct err *err)
{
    const json_t *value = json_member(object, key);
    if (!value)
        return 0;
    if (!json_is_integer(value))
        return wrong_type(key, value, "a whole number", err);
    *ret_value = json_integer_value(value);
    return 0;
}

int json_get_object(const json_t *object, const char *key, json_t **ret_value, struct err *err)
{
    json_t *value = json_member(object, key);
    if (!value)
        return 0;
    if (!json_is_object(value))
        return wrong_type(key, value, "an object", err);
    *ret_value = value;
    return 0;
}

int json_get_array(const json_t *object, const char *key, json_t **ret_value, struct err *err)
{
    json_t *value = json_member(object, key);
    if (!value)
        return 0;
    if (!json_is_array(value))
        return wrong_type(key, value, "an array", err);
    *ret_value = value;
    return 0;
}
