/*
 * node: reads a Kubernetes Node into facts. Source: Kubernetes API v1, Node.
 */
#ifndef OBJECTS_NODE_H
#define OBJECTS_NODE_H

#include "base/arena.h"
#include "base/err.h"
#include "types/facts.h"
#include "types/policy.h"

#include <jansson.h>

/* An annotation of nodes: each new value ends the quarantine and the shape traps of the node. */
#define NODE_QUARANTINE_LIFTED "gpu-extender.io/quarantine-lifted"

/* All that the facts point to is in the arena, nothing in the JSON. -EINVAL: a member of the wrong
 * type, an invalid quantity, GPUs that are not whole; the message names the path. */
int node_from_json(const json_t *object, const struct policy *policy, struct arena *arena,
                   struct node_facts *ret_facts, struct err *err);

/* ---- node conditions ---- */
/* What node-problem-detector (NPD), NVSentinel, gpud and others report of a node.  They write
 * status.conditions with types of their own: NPD by its configuration (KernelDeadlock,
 * ReadonlyFilesystem, FrequentKubeletRestart; README.md, "Problem Daemon"), and gpud through
 * NPD's custom plugins. NVSentinel uses the names of its checks (GpuXidError, SysLogsXIDError,
 * SysLogsGPUFallenOff; platform-connectors/pkg/connectors/kubernetes/process_node_events.go).
 * The node monitoring agent of EKS has AcceleratedHardwareReady, KernelReady and others
 * (docs.aws.amazon.com/eks/latest/userguide/node-health-nma.html). So no list of types would do:
 * True is a problem, unless the type says that all is well (...Ready, ...Healthy, ...Available,
 * EtcdIsVoter of k3s); then False is. Unknown says nothing: a plugin of NPD could not tell.  Of
 * a node at most NODE_CONDITIONS_MAX are kept, as a line each: "GpuXidError=True
 * GpuXidErrorIsNotHealthy: ErrorCode:79 GPU:0 ...". They decide nothing. */

#define NODE_CONDITIONS_MAX 8
/* Longer types, reasons and messages are cut. */
#define NODE_CONDITION_NAME_BYTES ((size_t)64)
#define NODE_CONDITION_MESSAGE_BYTES ((size_t)160)

/* The lines of status.conditions, in the arena; "": none. Items of another form are left out. */
const char *node_conditions_read(const json_t *conditions, struct arena *arena);
/* Appends the conditions of the lines to an array, as a Node has them. */
void node_conditions_append(const char *lines, json_t *conditions);
/* A copy of at most so many bytes of whole characters; others than printable ones, and those of
 * `not`, become "_" or, without `not`, a blank. */
const char *node_conditions_clean(const char *text, size_t max, const char * not,
                                  struct arena *arena);
/* ["TYPE=STATUS REASON: MESSAGE"]; NULL: none. */
json_t *node_conditions_list(const char *lines);

#endif
