/* drivers: see drivers.h. */
#include "drivers.h"

#include "config/syntax.h"

#include <stdio.h>
#include <string.h>

#define KNOWN_KEYS "model, resource"
/* Bytes of a key in messages; longer ones are cut. */
#define PATH_TEXT_MAX 160

/* Returns 0 and the borrowed text if it passes the check. */
static int read_text(const struct yaml_file *file, const struct yaml_value *at, syntax_check *check,
                     const char **ret_text, struct err *err)
{
    const char *text = json_string_value(at->value);
    if (!text)
        return yaml_wrong(file, at, "a string", err);
    const char *right = check(text);
    if (right)
        return yaml_wrong(file, at, right, err);
    *ret_text = text;
    return 0;
}

/* The texts of one driver, borrowed. */
struct texts {
    const char *model_attribute, *resource;
};

static int read_member(const struct yaml_file *file, const struct yaml_value *at,
                       struct texts *texts, struct err *err)
{
    if (strcmp(at->key, "model") == 0)
        return read_text(file, at, syntax_attribute, &texts->model_attribute, err);
    if (strcmp(at->key, "resource") == 0)
        return read_text(file, at, syntax_whole_resource, &texts->resource, err);
    const struct yaml_value key_only = {at->container, at->key, at->path, NULL};
    return yaml_fault(file, &key_only, err, "unknown key; known here: " KNOWN_KEYS);
}

static int read_members(const struct yaml_file *file, const struct yaml_value *at,
                        struct texts *ret_texts, struct err *err)
{
    struct texts texts = {NULL, ""};
    const char *key = NULL;
    json_t *value = NULL;
    if (!json_is_object(at->value))
        return yaml_wrong(file, at, "a mapping of " KNOWN_KEYS, err);
    json_object_foreach (at->value, key, value) {
        char path[PATH_TEXT_MAX];
        (void)snprintf(path, sizeof path, "%s.%s", at->path, key);
        const struct yaml_value member = {at->value, key, path, value};
        int r = json_is_null(value) ? 0 : read_member(file, &member, &texts, err);
        if (r < 0)
            return r;
    }
    if (!texts.model_attribute)
        return yaml_fault(file, at, err,
                          "has no model, should name the attribute that gives a device's model");
    *ret_texts = texts;
    return 0;
}

static int read_driver(const struct yaml_file *file, const struct yaml_value *at,
                       struct policy *policy, struct err *err)
{
    const struct yaml_value key_only = {at->container, at->key, at->path, NULL};
    const char *right = syntax_driver(at->key);
    struct texts texts = {0};
    if (right)
        return yaml_fault(file, &key_only, err, "is not a driver's name, should be %s", right);
    int r = read_members(file, at, &texts, err);
    if (r < 0)
        return r;
    policy_add_device_driver(policy, at->key, texts.model_attribute, texts.resource);
    return 0;
}

int drivers_read(const struct yaml_file *file, const struct yaml_value *at, struct policy *policy,
                 struct err *err)
{
    const size_t n = json_object_size(at->value);
    const char *key = NULL;
    json_t *value = NULL;
    if (!json_is_object(at->value))
        return yaml_wrong(file, at, "a mapping of driver names", err);
    if (n > DEVICE_DRIVERS_MAX)
        return yaml_fault(file, at, err, "has %zu drivers, should have at most %d", n,
                          DEVICE_DRIVERS_MAX);
    policy_clear_device_drivers(policy);
    json_object_foreach (at->value, key, value) {
        char path[PATH_TEXT_MAX];
        (void)snprintf(path, sizeof path, "%s.%s", at->path, key);
        const struct yaml_value driver = {at->value, key, path, value};
        int r = read_driver(file, &driver, policy, err);
        if (r < 0)
            return r;
    }
    return 0;
}
