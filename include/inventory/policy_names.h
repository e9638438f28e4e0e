/*
 * policy_names: names in the policy's quotas, aliases and topology.levels that the cluster does not
 * have, with the nearest that it has. The name may be misspelt, or the nodes do not exist yet. Also
 * GPUs that quotas with `borrow` guarantee and the nodes do not have.
 */
#ifndef INVENTORY_POLICY_NAMES_H
#define INVENTORY_POLICY_NAMES_H

#include "ledger/cluster.h"

struct policy_name {
    const char *seen;   /* "quota ml: no node has the model H1OO: its limit has no effect" */
    const char *advice; /* "did you mean H100?" */
    const char *quota;  /* the quota whose limit has the name; NULL: no limit has it */
};

/* Models and resources of quotas; their namespaces, and the models of aliases, only if one is near,
 * as policies are shared among clusters. In the arena. Returns their number. Compares at most
 * POLICY_NAMES_COMPARED pairs of models, so it may be called with the lock. */
#define POLICY_NAMES_COMPARED ((size_t)2000)
size_t policy_names_missing(const struct cluster *cluster, struct arena *arena,
                            struct policy_name **ret_names);

#endif
