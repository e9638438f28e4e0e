/*
 * file_feed: reads a cluster file object by object into a new ledger. Private to inventory.
 *
 * The file is output of kubectl get KINDS -A -o yaml (or json): List, NodeList, PodList or single
 * objects, in one or several documents. Other kinds are counted and skipped. A bad object is left
 * out and becomes a problem. All duplicates of a node or pod are left out.
 */
#ifndef INVENTORY_FILE_FEED_H
#define INVENTORY_FILE_FEED_H

#include "inventory_priv.h"

/* Sets state->cluster, which is the caller's, and what the state says of claims; appends to
 * state->problems. Returns 0 or a negative errno: the file cannot be read, is no YAML or JSON, or
 * exceeds a limit. */
int file_feed_read(const char *path, const struct policy *policy,
                   const struct inventory_limits *limits, struct state *state, struct err *err);

#endif
