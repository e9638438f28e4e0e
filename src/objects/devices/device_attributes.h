/* device_attributes: the attributes and capacities of a device, as texts, and back. */
#ifndef OBJECTS_DEVICES_DEVICE_ATTRIBUTES_H
#define OBJECTS_DEVICES_DEVICE_ATTRIBUTES_H

#include "base/arena.h"
#include "types/device_facts.h"

#include <jansson.h>

/* Of a device's content. Sets the members for selectors. before: of the same slice, whose texts it
 * may share; NULL: none. */
void device_attributes_read(const json_t *content, const char *driver,
                            const struct device_facts *before, struct arena *arena,
                            struct device_facts *facts);
/* Adds them to the two objects. */
void device_attributes_write(const struct device_facts *facts, json_t *attributes,
                             json_t *capacity);

#endif
