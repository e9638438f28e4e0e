/*
 * answer: cel/ as a program, beside tests/cel/oracle.go: each line of input is an expression and
 * devices, each line of output our verdict on them.
 */
#include "base/mem.h"
#include "cel/cel.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of(const json_t *object, const char *key)
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

static struct cel_device read_device(const json_t *json, const char *driver, struct arena *arena)
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
        fact->text = text_of(value, "value");
    }
    return device;
}

static json_t *answer_json(enum cel_verdict verdict, bool value, const char *message)
{
    if (verdict == CEL_VALID)
        return json_pack("{s:b}", "value", value);
    return json_pack("{s:s}", verdict == CEL_INVALID ? "error" : "notJudged", message);
}

static json_t *answer(const json_t *question, struct arena *arena)
{
    struct cel_program *program = cel_compile(text_of(question, "expression"), arena);
    enum cel_verdict verdict = cel_verdict(program);
    json_t *out = json_object();
    if (verdict == CEL_INVALID)
        (void)json_object_set_new(out, "compileError", json_string(cel_message(program)));
    if (verdict == CEL_NOT_JUDGED)
        (void)json_object_set_new(out, "notJudged", json_string(cel_message(program)));
    json_t *verdicts = json_array();
    json_t *device;
    size_t i;
    json_array_foreach (json_object_get(question, "devices"), i, device) {
        if (verdict != CEL_VALID)
            break;
        struct arena *scratch CLEANUP(arena_free_ptr) = arena_new();
        struct cel_device facts = read_device(device, text_of(question, "driver"), scratch);
        struct cel_answer given = cel_evaluate(program, &facts, scratch);
        (void)json_array_append_new(verdicts,
                                    answer_json(given.verdict, given.value, given.message));
    }
    (void)json_object_set_new(out, "verdicts", verdicts);
    return out;
}

int main(void)
{
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0) {
        struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
        json_t *question = json_loads(line, JSON_ALLOW_NUL, NULL);
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
