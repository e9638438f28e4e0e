/*
 * election_check: whether the times of leader election fit together.
 */
#ifndef CONFIG_ELECTION_CHECK_H
#define CONFIG_ELECTION_CHECK_H

#include "config/settings.h"
#include "formats/yaml_fault.h"

/* -EINVAL and a message at the time that is wrong, or at its section where the file says nothing of
 * it. */
int election_check(const struct yaml_file *file, json_t *root, const struct settings *settings,
                   struct err *err);

#endif
