/*
 * warnings: what in a policy file is right, and has a danger that cannot be seen from here.
 */
#ifndef CONFIG_WARNINGS_H
#define CONFIG_WARNINGS_H

#include "config/settings.h"
#include "formats/yaml_fault.h"

/* Into the settings, once all of the file is read. */
void warnings_find(const struct yaml_file *file, json_t *root, struct settings *settings);

#endif
