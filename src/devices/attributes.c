/* attributes: what selectors read of devices. Most devices share names and values, so both are
 * interned; what differs per device (UUID, PCI address) is one text each. */
#include "base/mem.h"
#include "devices_priv.h"

#include <stdlib.h>
#include <string.h>

/* like: what the device before has there, mostly the same, which saves a look-up; NULL: nothing. */
static const char *keep(struct devices *devices, const char *text, const char *like)
{
    return like && strcmp(like, text) == 0 ? string_table_ref(like)
                                           : string_table_intern(&devices->strings, text);
}

void attributes_keep(struct devices *devices, struct device *device,
                     const struct device_facts *facts)
{
    const struct device *before = device > device->slice->devices ? device - 1 : NULL;
    device->allows_multiple = facts->allows_multiple;
    device->lacks_attributes = facts->lacks_attributes;
    device->n_attributes = (uint32_t)facts->n_attributes;
    if (facts->n_attributes == 0)
        return;
    device->attributes = MEM_ARRAY(struct device_attribute, facts->n_attributes);
    for (size_t i = 0; i < facts->n_attributes; i++) {
        const struct device_attribute *attribute = &facts->attributes[i];
        const bool has_like = before && i < before->n_attributes;
        const char *name = has_like ? before->attributes[i].name : NULL;
        const char *value = has_like ? before->attributes[i].value : NULL;
        device->attributes[i].name = keep(devices, attribute->name, name);
        device->attributes[i].value = keep(devices, attribute->value, value);
    }
}

void attributes_drop(struct devices *devices, struct device *device)
{
    for (size_t i = 0; i < device->n_attributes; i++) {
        string_table_unref(&devices->strings, device->attributes[i].name);
        string_table_unref(&devices->strings, device->attributes[i].value);
    }
    free(device->attributes);
}
