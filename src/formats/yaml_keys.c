/* yaml_keys: see yaml_keys.h. */
#include "yaml_keys.h"

#include "base/mem.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct yaml_keys {
    struct seen_key *keys;
    size_t count;
    size_t size;
};

struct yaml_keys *yaml_keys_new(void)
{
    return MEM_NEW(struct yaml_keys);
}

void yaml_keys_free(struct yaml_keys *keys)
{
    if (!keys)
        return;
    yaml_keys_truncate(keys, 0);
    free(keys->keys);
    free(keys);
}

void yaml_keys_push(struct yaml_keys *keys, struct seen_key key)
{
    if (keys->count == keys->size) {
        keys->size = keys->size ? 2 * keys->size : 64;
        keys->keys = mem_grow(keys->keys, keys->size, sizeof *keys->keys);
    }
    keys->keys[keys->count++] = key;
}

size_t yaml_keys_count(const struct yaml_keys *keys)
{
    return keys->count;
}

const struct seen_key *yaml_keys_at(const struct yaml_keys *keys, size_t index)
{
    return &keys->keys[index];
}

void yaml_keys_truncate(struct yaml_keys *keys, size_t count)
{
    while (keys->count > count)
        free(keys->keys[--keys->count].text);
}

int yaml_keys_refuse_second(const struct yaml_keys *keys, size_t first, struct err *err)
{
    const struct seen_key *last = &keys->keys[keys->count - 1];
    for (const struct seen_key *key = keys->keys + first; key < last; key++)
        if (strcmp(key->text, last->text) == 0)
            return err_set(
                err, EINVAL, "%zu:%zu: the key \"%.100s\" is here twice; it stands at %zu:%zu too",
                last->at.line, last->at.column, last->text, key->at.line, key->at.column);
    return 0;
}

/* The shortest text that reads as the same float, as sigs.k8s.io/yaml writes keys (Go's
 * FormatFloat(real, 'g', -1, 32)). */
static void write_real(double real, char *ret_text, size_t size)
{
    int n_decimals = -1;
    do
        (void)snprintf(ret_text, size, "%.*e", ++n_decimals, real);
    while (n_decimals < FLT_DECIMAL_DIG && strtof(ret_text, NULL) != (float)real);
    const long exponent = strtol(strchr(ret_text, 'e') + 1, NULL, 10);
    if (exponent >= -4 && exponent < 6)
        (void)snprintf(ret_text, size, "%.*f",
                       n_decimals > exponent ? n_decimals - (int)exponent : 0, real);
}

char *yaml_keys_text(const json_t *value)
{
    char number[24];
    if (json_is_string(value))
        return mem_strdup(json_string_value(value));
    if (json_is_boolean(value))
        return mem_strdup(json_is_true(value) ? "true" : "false");
    if (json_is_integer(value))
        (void)snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value) && fabs(json_real_value(value)) < 0x1p63)
        write_real(json_real_value(value), number, sizeof number);
    else
        return NULL;
    return mem_strdup(number);
}
