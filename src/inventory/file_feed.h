/*
 * file_feed: a cluster file, read object by object into a new ledger. Private to inventory.
 *
 * What kubectl get nodes,pods,namespaces,priorityclasses -A -o yaml (or json) writes: List,
 * NodeList, PodList, or single objects, one or several documents. Other kinds are counted and
 * skipped. A bad object in a good file is left out and becomes a problem; of objects that are there
 * twice, all are.
 */
#ifndef INVENTORY_FILE_FEED_H
#define INVENTORY_FILE_FEED_H

#include "inventory/inventory.h"
#include "problems.h"

/* *ret_cluster is the caller's; problems are appended. 0, or a negative errno: a file that cannot
 * be read, is no YAML or JSON, or passes a limit. */
int file_feed_read(const char *path, const struct policy *policy,
                   const struct inventory_limits *limits, struct cluster **ret_cluster,
                   struct problems *problems, struct err *err);

#endif
