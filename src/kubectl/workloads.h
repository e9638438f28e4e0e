/*
 * workloads: the verdict on the workloads of a dry run or a what-if, as an exit status for CI.
 */
#ifndef KUBECTL_WORKLOADS_H
#define KUBECTL_WORKLOADS_H

#include <jansson.h>
#include <stdbool.h>

/* enum end; are_asked: the request has manifests, so an answer without workloads is a mistake. */
int workloads_judge(const json_t *result, bool are_asked);
/* Whether it is a whole number from 0. */
bool workloads_is_count(const json_t *value);

#endif
