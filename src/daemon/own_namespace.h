/*
 * own_namespace: the namespace of the objects that we write.
 */
#ifndef DAEMON_OWN_NAMESPACE_H
#define DAEMON_OWN_NAMESPACE_H

#include "config/settings.h"

#define OWN_NAMESPACE_BYTES ((size_t)256)

/* leaderElection.namespace, else POD_NAMESPACE in the environment, else the ServiceAccount's. */
int own_namespace_find(const struct settings *settings, char ret_name[OWN_NAMESPACE_BYTES],
                       struct err *err);

#endif
