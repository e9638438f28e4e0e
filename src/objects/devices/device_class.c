/* device_class: see include/objects/claims.h. */
#include "objects/claims.h"

#include "formats/json_values.h"
#include "objects/devices/selector_texts.h"
#include "objects/identity.h"

int device_class_from_json(const json_t *object, struct arena *arena,
                           struct device_class_facts *ret_facts, struct err *err)
{
    struct identity identity;
    json_t *spec = NULL;
    const char *resource = "";
    int r = identity_from_json(object, arena, &identity, err);
    if (r == 0)
        r = json_get_object(object, "spec", &spec, err);
    if (r < 0)
        return r;
    if ((r = json_get_string(spec, "extendedResourceName", &resource, err)) < 0) {
        err_prefix(err, "spec.");
        return r;
    }
    *ret_facts = (struct device_class_facts){identity.name, arena_strdup(arena, resource),
                                             device_class_driver(object, arena),
                                             device_class_selectors(object, arena)};
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
