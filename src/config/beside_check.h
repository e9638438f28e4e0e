/*
 * beside_check: checks the policy of an instance beside each kube-scheduler (scheduler.beside).
 */
#ifndef CONFIG_BESIDE_CHECK_H
#define CONFIG_BESIDE_CHECK_H

#include "config/settings.h"
#include "formats/yaml_fault.h"

/* Returns 0 also if scheduler.beside is off. -EINVAL: err names the wrong key. */
int beside_check(const struct yaml_file *file, json_t *root, const struct settings *settings,
                 struct err *err);

#endif
