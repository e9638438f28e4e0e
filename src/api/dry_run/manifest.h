/*
 * manifest: decodes the body of a dry run into workloads. Private to api.
 */
#ifndef API_DRY_RUN_MANIFEST_H
#define API_DRY_RUN_MANIFEST_H

#include "api/api.h"
#include "objects/workload.h"

/* All in the arena. Unreadable objects, such as one without a kind, are among the skipped. -EINVAL:
 * no YAML or JSON, an empty body, no readable object, or too many unreadable ones; -EMSGSIZE: a
 * limit. */
int manifest_read(const char *text, size_t len, const struct api *api, struct arena *arena,
                  struct workload_list *ret_list, struct err *err);

#endif
