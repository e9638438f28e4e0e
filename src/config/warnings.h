/*
 * warnings: valid settings of a policy file whose risk depends on the cluster.
 */
#ifndef CONFIG_WARNINGS_H
#define CONFIG_WARNINGS_H

#include "config/settings.h"
#include "formats/yaml_fault.h"

/* Adds warnings to the settings. Call after reading the whole file. */
void warnings_find(const struct yaml_file *file, json_t *root, struct settings *settings);

#endif
