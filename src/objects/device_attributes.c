/* device_attributes: see device_attributes.h. */
#include "device_attributes.h"

#include "formats/json_get.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES_MAX 128 /* the API allows a domain of 63 and a name of 32 */
/* Stands for those left out, where facts are written; a snapshot must read as the same. */
#define LEFT_OUT "gpu-extender.io/left-out"
#define VALUE_BYTES_MAX 256 /* the API allows 64 characters */

static const char *value_text(const json_t *value, struct arena *arena)
{
    static const struct {
        const char *member;
        char letter;
    } TEXTS[] = {{"string", 's'}, {"version", 'v'}};
    const json_t *integer = json_member(value, "int");
    const json_t *boolean = json_member(value, "bool");
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        const char *text = json_string_value(json_member(value, TEXTS[i].member));
        if (text)
            return arena_printf(arena, "%c%s", TEXTS[i].letter, text);
    }
    if (json_is_integer(integer))
        return arena_printf(arena, "i%" PRId64, (int64_t)json_integer_value(integer));
    if (json_is_boolean(boolean))
        return json_is_true(boolean) ? "btrue" : "bfalse";
    return "?";
}

/* A quantity may be written as a number. */
static const char *capacity_text(const json_t *value, struct arena *arena)
{
    const json_t *amount = json_member(value, "value");
    if (json_is_integer(amount))
        return arena_printf(arena, "q%" PRId64, (int64_t)json_integer_value(amount));
    const char *text = json_string_value(amount);
    return text ? arena_printf(arena, "q%s", text) : "?";
}

struct attribute_reading {
    const char *driver;
    struct arena *arena;
    struct device_attribute *items;
    size_t n;
    bool is_cut;
};

static void add(struct attribute_reading *reading, const char *name, const char *value)
{
    const char *qualified = strchr(name, '/')
                                ? arena_strdup(reading->arena, name)
                                : arena_printf(reading->arena, "%s/%s", reading->driver, name);
    if (reading->n == DEVICE_ATTRIBUTES_MAX || strcmp(name, LEFT_OUT) == 0 ||
        strlen(qualified) > NAME_BYTES_MAX || strlen(value) > VALUE_BYTES_MAX) {
        reading->is_cut = true;
        return;
    }
    reading->items[reading->n++] = (struct device_attribute){qualified, value};
}

void device_attributes_read(const json_t *content, const char *driver, struct arena *arena,
                            struct device_facts *facts)
{
    json_t *attributes = json_member(content, "attributes");
    json_t *capacity = json_member(content, "capacity");
    const size_t n = json_object_size(attributes) + json_object_size(capacity);
    struct attribute_reading reading = {.driver = driver, .arena = arena};
    reading.items = ARENA_ARRAY(arena, struct device_attribute,
                                n < DEVICE_ATTRIBUTES_MAX ? n : DEVICE_ATTRIBUTES_MAX);
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach (attributes, name, value)
        add(&reading, name, value_text(value, arena));
    json_object_foreach (capacity, name, value)
        add(&reading, name, capacity_text(value, arena));
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
        (void)json_object_set_new(attributes, LEFT_OUT, json_pack("{s:b}", "bool", true));
    for (size_t i = 0; i < facts->n_attributes; i++) {
        const struct device_attribute *item = &facts->attributes[i];
        (void)json_object_set_new(item->value[0] == 'q' ? capacity : attributes, item->name,
                                  value_json(item->value));
    }
}
