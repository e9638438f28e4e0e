/*
 * units: reads the policy's models.units.
 */
#ifndef CONFIG_UNITS_H
#define CONFIG_UNITS_H

#include "formats/yaml_fault.h"
#include "types/policy.h"

/* Replaces the policy's units by those of the list. Returns 0 or -EINVAL. */
int units_read(const struct yaml_file *file, const struct yaml_value *list, struct policy *policy,
               struct err *err);

#endif
