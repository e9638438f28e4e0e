/*
 * settings_check: values of a policy file that depend on each other, or on the cluster.
 */
#ifndef CONFIG_SETTINGS_CHECK_H
#define CONFIG_SETTINGS_CHECK_H

#include "config/settings.h"
#include "formats/yaml_json.h"

/* -EINVAL: err names the wrong key, or its section if the file does not set the key. */
int settings_check(const struct yaml_file *file, json_t *root, const struct settings *settings,
                   struct err *err);

/* Adds warnings of valid settings whose risk depends on the cluster. Call after reading the whole
 * file. */
void settings_find_warnings(const struct yaml_file *file, json_t *root, struct settings *settings);

#endif
