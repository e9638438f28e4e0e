/*
 * unknown_key: the error for an unknown key, with the nearest known one.
 */
#ifndef CONFIG_UNKNOWN_KEY_H
#define CONFIG_UNKNOWN_KEY_H

#include "setting.h"

/* section: "" at the top level. Returns -EINVAL with the key's position. */
int unknown_key(const struct yaml_file *file, const char *section, const struct yaml_value *at,
                struct err *err);

/* Writes the keys of a section: "verbs, people, probes". */
void unknown_key_list(const char *section, struct buf *out);

#endif
