/*
 * clients: allowed client certificates in the policy file: {names: [...], organizations: [...]}.
 * Private to config.
 */
#ifndef CONFIG_CLIENTS_H
#define CONFIG_CLIENTS_H

#include "config/settings.h"
#include "formats/yaml_fault.h"

/* Replaces the previous value. -EINVAL sets err. */
int clients_read(const struct yaml_file *file, const struct yaml_value *at,
                 struct settings_clients *clients, struct err *err);
void clients_fini(struct settings_clients *clients);

#endif
