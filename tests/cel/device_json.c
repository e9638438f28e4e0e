/* device_json: see device_json.h. */
#include "device_json.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *json_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* Splits "domain/name"; the driver is the domain of names without one. */
static void set_name(struct cel_fact *fact, const char *name, const char *driver,
                     struct arena *arena)
{
    const char *slash = strchr(name, '/');
    fact->domain = slash ? arena_strndup(arena, name, (size_t)(slash - name)) : driver;
    fact->name = slash ? slash + 1 : name;
}

/* False: a value that 1.36 does not support. */
static bool set_value(struct cel_fact *fact, const json_t *value)
{
    const json_t *member;
    if ((member = json_object_get(value, "int"))) {
        fact->kind = CEL_INT;
        fact->integer = json_integer_value(member);
    } else if ((member = json_object_get(value, "bool"))) {
        fact->kind = CEL_BOOL;
        fact->boolean = json_is_true(member);
    } else if ((member = json_object_get(value, "string"))) {
        fact->kind = CEL_STRING;
        fact->text = json_string_value(member);
    } else if ((member = json_object_get(value, "version"))) {
        fact->kind = CEL_VERSION;
        fact->text = json_string_value(member);
    }
    return member != NULL;
}

struct cel_device device_from_json(const json_t *json, const char *driver, struct arena *arena)
{
    json_t *attributes = json_object_get(json, "attributes");
    json_t *capacity = json_object_get(json, "capacity");
    size_t n = json_object_size(attributes) + json_object_size(capacity);
    struct cel_fact *facts = ARENA_ARRAY(arena, struct cel_fact, n + 1);
    struct cel_device device = {.driver = driver, .facts = facts};
    device.allows_multiple = json_is_true(json_object_get(json, "allowMultipleAllocations"));
    const char *name;
    json_t *value;
    json_object_foreach (attributes, name, value) {
        struct cel_fact *fact = &facts[device.n_facts++];
        set_name(fact, name, driver, arena);
        if (!set_value(fact, value))
            device.unsupported = name;
    }
    json_object_foreach (capacity, name, value) {
        struct cel_fact *fact = &facts[device.n_facts++];
        set_name(fact, name, driver, arena);
        fact->kind = CEL_QUANTITY;
        fact->text = json_text(value, "value");
    }
    return device;
}

int answer_lines(size_t flags, json_t *(*answer)(const json_t *question, struct arena *arena))
{
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0) {
        struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
        json_t *question = json_loads(line, flags, NULL);
        if (!question)
            return 1;
        json_t *out = answer(question, arena);
        (void)json_dumpf(out, stdout, JSON_COMPACT);
        (void)putchar('\n');
        json_decref(out);
        json_decref(question);
    }
    free(line);
    return 0;
}
