/*
 * clients: who may come with a certificate, in the policy file: {names: [...], organizations:
 * [...]}. Private to config.
 */
#ifndef CONFIG_CLIENTS_H
#define CONFIG_CLIENTS_H

#include "config/settings.h"
#include "formats/yaml_fault.h"

/* Replaces what was there. -EINVAL and a message. */
int clients_read(const struct yaml_file *file, const struct yaml_value *at,
                 struct settings_clients *clients, struct err *err);
void clients_fini(struct settings_clients *clients);

#endif
