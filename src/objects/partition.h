/*
 * partition: which devices are parts of a GPU, by their attributes and by the counters that they
 * consume, and what tells that two devices are of one GPU. The attributes are those of the drivers
 * of NVIDIA, AMD and Intel, and of the example driver.
 */
#ifndef OBJECTS_PARTITION_H
#define OBJECTS_PARTITION_H

#include "base/arena.h"
#include "types/device_facts.h"

#include <stddef.h>

/* Sets profile and physical by the attributes, which must be read. A profile that is set stays.
 * Borrows the texts of the attributes, or writes into the arena. */
void partition_read(const char *driver, struct arena *arena, struct device_facts *device);
/* Marks devices that consume a part of what another of the same model consumes, of the same counter
 * sets: they are parts of that GPU. */
void partition_compare(struct device_facts *devices, size_t n);

#endif
