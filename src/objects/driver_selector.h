/*
 * driver_selector: the driver that selectors of devices (CEL) demand, in the form that nearly all
 * classes have. Private to objects.
 */
#ifndef OBJECTS_DRIVER_SELECTOR_H
#define OBJECTS_DRIVER_SELECTOR_H

#include "base/arena.h"

#include <jansson.h>

/* Of a DeviceClass or of a request: one of the selectors begins with `device.driver == "NAME"` and
 * goes on, if at all, with && and without any || or ?: outside of brackets. In the arena; "": not
 * known. Ignores members of a wrong type. */
const char *driver_selector_read(const json_t *selectors, struct arena *arena);
/* The same of one such selector. */
const char *driver_selector_of(const char *expression, struct arena *arena);
/* A list with such a selector; a new reference. */
json_t *driver_selector_json(const char *driver);

#endif
