/*
 * drivers: reads the policy's deviceDrivers.
 */
#ifndef CONFIG_DRIVERS_H
#define CONFIG_DRIVERS_H

#include "formats/yaml_fault.h"
#include "types/policy.h"

/* Replaces the policy's drivers. -EINVAL sets err. */
int drivers_read(const struct yaml_file *file, const struct yaml_value *at, struct policy *policy,
                 struct err *err);

#endif
