/*
 * quota_read: the policy file's `quotas`. Private to config.
 */
#ifndef CONFIG_QUOTA_READ_H
#define CONFIG_QUOTA_READ_H

#include "formats/yaml_fault.h"
#include "types/policy.h"

/* Replaces the policy's quotas. gpuResources and models.aliases must have been read before, because
 * quotas are checked against them. -EINVAL sets err. */
int quotas_read(const struct yaml_file *file, const struct yaml_value *list, struct policy *policy,
                struct err *err);

#endif
