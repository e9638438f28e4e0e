/* device_attributes: see selector_texts.h. */
#include "objects/devices/selector_texts.h"
#include "objects/fields.h"

#include "formats/json_values.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES_MAX 128 /* the API allows a domain of 63 and a name of 32 */
/* Stands for those left out, where facts are written; a snapshot must read as the same. */
#define VALUE_BYTES_MAX 256 /* the API allows 64 characters */

struct attribute_reading {
    const char *driver;
    size_t driver_len;
    struct arena *arena;
    const struct device_facts *like; /* the device before; NULL: none */
    struct device_attribute *items;
    size_t n;
    bool is_cut;
};

/* The attribute of the device before in the same place: mostly the same. NULL: it has none. */
static const struct device_attribute *likely(const struct attribute_reading *reading)
{
    const struct device_facts *like = reading->like;
    return like && reading->n < like->n_attributes ? &like->attributes[reading->n] : NULL;
}

/* The letter and the text. */
static const char *lettered(const struct attribute_reading *reading, char letter, const char *text)
{
    const struct device_attribute *like = likely(reading);
    if (like && like->value[0] == letter && strcmp(like->value + 1, text) == 0)
        return like->value;
    const size_t size = strlen(text) + 1;
    char *value = arena_alloc_unset(reading->arena, 1 + size);
    value[0] = letter;
    memcpy(value + 1, text, size);
    return value;
}

static const char *value_text(const struct attribute_reading *reading, const json_t *value)
{
    const char *text = json_string_value(json_member(value, "string"));
    if (text)
        return lettered(reading, 's', text);
    if ((text = json_string_value(json_member(value, "version"))))
        return lettered(reading, 'v', text);
    const json_t *integer = json_member(value, "int");
    if (json_is_integer(integer))
        return arena_printf(reading->arena, "i%" PRId64, (int64_t)json_integer_value(integer));
    const json_t *boolean = json_member(value, "bool");
    if (json_is_boolean(boolean))
        return json_is_true(boolean) ? "btrue" : "bfalse";
    return "?";
}

/* A quantity may be written as a number. */
static const char *capacity_text(const struct attribute_reading *reading, const json_t *value)
{
    const json_t *amount = json_member(value, "value");
    if (json_is_integer(amount))
        return arena_printf(reading->arena, "q%" PRId64, (int64_t)json_integer_value(amount));
    const char *text = json_string_value(amount);
    return text ? lettered(reading, 'q', text) : "?";
}

/* With the driver as its domain if it has none. */
static const char *qualified_name(const struct attribute_reading *reading, const char *name)
{
    const struct device_attribute *like = likely(reading);
    const size_t len = reading->driver_len;
    const size_t size = strlen(name) + 1;
    const bool is_whole = strchr(name, '/');
    if (like && is_whole && strcmp(like->name, name) == 0)
        return like->name;
    if (is_whole)
        return arena_strdup(reading->arena, name);
    if (like && strncmp(like->name, reading->driver, len) == 0 && like->name[len] == '/' &&
        strcmp(like->name + len + 1, name) == 0)
        return like->name;
    char *qualified = arena_alloc_unset(reading->arena, len + 1 + size);
    memcpy(qualified, reading->driver, len);
    qualified[len] = '/';
    memcpy(qualified + len + 1, name, size);
    return qualified;
}

static void add(struct attribute_reading *reading, const char *name, const char *value)
{
    const char *qualified = qualified_name(reading, name);
    if (reading->n == DEVICE_ATTRIBUTES_MAX || strcmp(name, META_LEFT_OUT) == 0 ||
        strlen(qualified) > NAME_BYTES_MAX || strlen(value) > VALUE_BYTES_MAX) {
        reading->is_cut = true;
        return;
    }
    reading->items[reading->n++] = (struct device_attribute){qualified, value};
}

void device_attributes_read(const json_t *content, const char *driver,
                            const struct device_facts *before, struct arena *arena,
                            struct device_facts *facts)
{
    json_t *attributes = json_member(content, "attributes");
    json_t *capacity = json_member(content, "capacity");
    const size_t n = json_object_size(attributes) + json_object_size(capacity);
    struct attribute_reading reading = {
        .driver = driver, .driver_len = strlen(driver), .arena = arena, .like = before};
    reading.items = ARENA_ARRAY(arena, struct device_attribute,
                                n < DEVICE_ATTRIBUTES_MAX ? n : DEVICE_ATTRIBUTES_MAX);
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach (attributes, name, value)
        add(&reading, name, value_text(&reading, value));
    json_object_foreach (capacity, name, value)
        add(&reading, name, capacity_text(&reading, value));
    facts->attributes = reading.items;
    facts->n_attributes = reading.n;
    facts->lacks_attributes = reading.is_cut;
    facts->allows_multiple = json_is_true(json_member(content, "allowMultipleAllocations"));
}

static json_t *value_json(const char *value)
{
    const char *text = value + 1;
    if (value[0] == 'i')
        return json_pack("{s:I}", "int", (json_int_t)strtoll(text, NULL, 10));
    if (value[0] == 'b')
        return json_pack("{s:b}", "bool", strcmp(text, "true") == 0);
    const char *member = value[0] == 's' ? "string" : value[0] == 'v' ? "version" : "value";
    return value[0] == '?' ? json_object() : json_pack("{s:s}", member, text);
}

void device_attributes_write(const struct device_facts *facts, json_t *attributes, json_t *capacity)
{
    if (facts->lacks_attributes)
        (void)json_object_set_new(attributes, META_LEFT_OUT, json_pack("{s:b}", "bool", true));
    for (size_t i = 0; i < facts->n_attributes; i++) {
        const struct device_attribute *item = &facts->attributes[i];
        (void)json_object_set_new(item->value[0] == 'q' ? capacity : attributes, item->name,
                                  value_json(item->value));
    }
}
