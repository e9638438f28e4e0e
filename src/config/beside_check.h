/*
 * beside_check: whether the policy of an instance beside each kube-scheduler (scheduler.beside) is
 * consistent.
 */
#ifndef CONFIG_BESIDE_CHECK_H
#define CONFIG_BESIDE_CHECK_H

#include "config/settings.h"
#include "formats/yaml_fault.h"

/* 0 also where scheduler.beside is off. -EINVAL and a message at the key that is wrong. */
int beside_check(const struct yaml_file *file, json_t *root, const struct settings *settings,
                 struct err *err);

#endif
