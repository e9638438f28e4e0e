/*
 * selector_texts: the member `selectors` of device classes and requests, from JSON and back.
 * Private to objects.
 */
#ifndef OBJECTS_DEVICES_SELECTOR_TEXTS_H
#define OBJECTS_DEVICES_SELECTOR_TEXTS_H

#include "base/arena.h"
#include "types/device_facts.h"
#include "types/selector_texts.h"

#include <jansson.h>

/* All in the arena. selectors: or NULL, which is none. */
struct selector_texts selector_texts_from_json(const json_t *selectors, struct arena *arena);
/* Which reads as the same; NULL: there are none. driver: what is known all the same if they are
 * cut, or "". */
json_t *selector_texts_to_json(const struct selector_texts *selectors, const char *driver);
/* Of a DeviceClass or of a request: the driver that one of the selectors demands, as cel_driver().
 * Ignores members of a wrong type. */
const char *selector_texts_driver(const json_t *selectors, struct arena *arena);
/* A list with such a selector; a new reference. */
json_t *selector_texts_of_driver(const char *driver);

/* ---- the attributes and capacities of a device, as texts, and back ---- */

/* Of a device's content. Sets the members for selectors. before: of the same slice, whose texts it
 * may share; NULL: none. */
void device_attributes_read(const json_t *content, const char *driver,
                            const struct device_facts *before, struct arena *arena,
                            struct device_facts *facts);
/* Adds them to the two objects. */
void device_attributes_write(const struct device_facts *facts, json_t *attributes,
                             json_t *capacity);

#endif
