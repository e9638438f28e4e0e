/* device_class: see include/objects/device_class.h. */
#include "objects/device_class.h"

#include "formats/json_get.h"
#include "selector_texts.h"

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

const char *device_class_driver(const json_t *object, struct arena *arena)
{
    return selector_texts_driver(json_member(json_member(object, "spec"), "selectors"), arena);
}

struct selector_texts device_class_selectors(const json_t *object, struct arena *arena)
{
    return selector_texts_from_json(json_member(json_member(object, "spec"), "selectors"), arena);
}
