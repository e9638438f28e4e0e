/*
 * timeout_check: checks that kube-scheduler waits longer for a binding than the binding may take.
 */
#ifndef CONFIG_TIMEOUT_CHECK_H
#define CONFIG_TIMEOUT_CHECK_H

#include "config/settings.h"
#include "formats/yaml_fault.h"

/* -EINVAL: err names the key in the file, or its section. */
int timeout_check(const struct yaml_file *file, json_t *root, const struct settings *settings,
                  struct err *err);

#endif
