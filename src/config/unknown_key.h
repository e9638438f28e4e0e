/*
 * unknown_key: the message for a key that no setting has, with the nearest that there is.
 */
#ifndef CONFIG_UNKNOWN_KEY_H
#define CONFIG_UNKNOWN_KEY_H

#include "setting.h"

/* section is "" for the outermost keys. -EINVAL, at the place of the key. */
int unknown_key(const struct yaml_file *file, const char *section, const struct yaml_value *at,
                struct err *err);

/* The keys of a section, "verbs, people, probes". */
void unknown_key_list(const char *section, struct buf *out);

#endif
