/*
 * quota_read: the policy file's `quotas`. Private to config.
 */
#ifndef CONFIG_QUOTA_READ_H
#define CONFIG_QUOTA_READ_H

#include "formats/yaml_fault.h"
#include "types/policy.h"

/* The policy's quotas are those of the list from now on. What they are checked against
 * (gpuResources, models.aliases) must have been read. -EINVAL and a message. */
int quotas_read(const struct yaml_file *file, const struct yaml_value *list, struct policy *policy,
                struct err *err);

#endif
