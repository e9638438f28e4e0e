/*
 * budgets: limits how often filter answers a pod with an Error on purpose, or delays its call.
 *
 * An Error without a fault costs: kube-scheduler writes the pod's status twice (Error, then
 * rejection) within its scheduling cycle, and counts it in schedule_attempts_total
 * {result="error"}. So each kind of Error has a budget here. With an empty budget, filter rejects
 * the pod plainly.
 *
 * The table has a fixed size. It evicts no entry used within BUDGETS_KEEP_MS, so a tenant with many
 * pods cannot erase what others have spent. Each rejected pod has an entry of budgets_repeat();
 * only these give way to other kinds. A pod without a free entry has no budget. All is lost with
 * the process, so budgets start anew after a change of leader.
 *
 * Time is passed in (milliseconds, > 0). All functions may be called from any thread; each takes a
 * lock of its own.
 */
#ifndef EXTENDER_BUDGETS_H
#define EXTENDER_BUDGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A pod has one entry for each budget that it uses. */
#define BUDGETS_ENTRIES ((size_t)8192)
#define BUDGETS_KEEP_MS INT64_C(3600000)
/* Errors per pod and blocking nomination. */
#define BUDGETS_KEPT 2
/* Calls per nomination that wait for a quota. */
#define BUDGETS_QUOTA_WAITS 1
/* Least time between two repeat Errors of a pod: with the rejection after each, two status changes
 * in any five minutes. */
#define BUDGETS_REPEAT_GAP_MS INT64_C(360000)
/* The token bucket shared by all pods. */
#define BUDGETS_TOKENS 5
#define BUDGETS_TOKEN_MS INT64_C(1000)

struct budgets;

struct budgets *budgets_new(void);
void budgets_free(struct budgets *budgets);

/* Each returns true if the budget allows it, and spends it then. A pod without a UID has no
 * budget. */

/* An Error: free GPUs are kept for the nomination of `nominee` (a UID) to `node`. */
bool budgets_kept(struct budgets *budgets, const char *uid, const char *nominee, const char *node,
                  int64_t now_ms);
/* A wait: the quota counts pods that terminate on the pod's nominated node. */
bool budgets_quota_wait(struct budgets *budgets, const char *uid, const char *node, int64_t now_ms);
/* An Error: the same version of the pod was rejected by the same version of the ledger before. The
 * first rejection is only recorded. resource_version: the pod's; "": no budget. */
bool budgets_repeat(struct budgets *budgets, const char *uid, const char *resource_version,
                    uint64_t ledger_version, int64_t now_ms);
/* One token of the bucket. budgets_repeat() takes its own. */
bool budgets_token(struct budgets *budgets, int64_t now_ms);

#endif
