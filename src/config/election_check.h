/*
 * election_check: checks the times of leader election against each other.
 */
#ifndef CONFIG_ELECTION_CHECK_H
#define CONFIG_ELECTION_CHECK_H

#include "config/settings.h"
#include "formats/yaml_fault.h"

/* -EINVAL: err names the wrong key, or its section if the file does not set the key. */
int election_check(const struct yaml_file *file, json_t *root, const struct settings *settings,
                   struct err *err);

#endif
