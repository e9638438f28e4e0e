/* device_class: see include/objects/device_class.h. */
#include "objects/device_class.h"

#include "formats/json_get.h"
#include "meta.h"

#include <string.h>

int device_class_from_json(const json_t *object, struct arena *arena, const char **ret_resource,
                           struct err *err)
{
    json_t *spec = NULL;
    const char *resource = "";
    int r = json_get_object(object, "spec", &spec, err);
    if (r < 0)
        return r;
    if ((r = json_get_string(spec, "extendedResourceName", &resource, err)) < 0) {
        err_prefix(err, "spec.");
        return r;
    }
    *ret_resource = arena_strdup(arena, resource);
    return 0;
}

static const char *skip_spaces(const char *text)
{
    return text + strspn(text, " \t\r\n");
}

/* After the text and spaces; NULL: it does not begin with the text. */
static const char *skip_text(const char *at, const char *text)
{
    const size_t len = strlen(text);
    return at && strncmp(at, text, len) == 0 ? skip_spaces(at + len) : NULL;
}

/* A conjunction holds only if its first part does. */
static bool is_conjunction(const char *rest)
{
    return !rest[0] || (strncmp(rest, "&&", 2) == 0 && !strstr(rest, "||") && !strchr(rest, '?'));
}

static const char *driver_of(const char *expression, struct arena *arena)
{
    const char *name = skip_text(skip_spaces(expression), "device.driver");
    name = skip_text(name, "==");
    if (!name || (*name != '"' && *name != '\''))
        return "";
    const char quote[] = {*name++, '\\', '\n', '\0'};
    const size_t len = strcspn(name, quote);
    if (name[len] != quote[0] || len > META_NAME_BYTES_MAX ||
        !is_conjunction(skip_spaces(name + len + 1)))
        return "";
    return arena_printf(arena, "%.*s", (int)len, name);
}

const char *device_class_driver(const json_t *object, struct arena *arena)
{
    size_t i = 0;
    json_t *selector = NULL;
    json_array_foreach (json_member(json_member(object, "spec"), "selectors"), i, selector) {
        const char *expression =
            json_string_value(json_member(json_member(selector, "cel"), "expression"));
        const char *driver = driver_of(expression ? expression : "", arena);
        if (driver[0])
            return driver;
    }
    return "";
}
