/*
 * budgets: how often filter may answer a pod with an Error by design, or keep its call waiting.
 *
 * An Error that is no fault costs: kube-scheduler writes the pod's status twice (the Error, then
 * the refusal), inside its scheduling cycle, and counts it in schedule_attempts_total
 * {result="error"}. So each kind of Error has a budget here. An empty budget means the plain
 * refusal.
 *
 * The table is fixed and never grows. It evicts no entry that was used within BUDGETS_KEEP_MS: a
 * tenant with many pods cannot make it forget what others have spent. Each rejected pod has an
 * entry of budgets_repeat(); these alone give way to the other kinds. A pod that finds no free
 * entry has no budget. All is lost with the process, so after a change of leader the budgets begin
 * anew.
 *
 * Time is passed in (milliseconds, > 0). All functions may be called from any thread.
 */
#ifndef EXTENDER_BUDGETS_H
#define EXTENDER_BUDGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Entries; a pod has one for each budget that it uses. */
#define BUDGETS_ENTRIES ((size_t)8192)
#define BUDGETS_KEEP_MS INT64_C(3600000)
/* Errors per pod and blocking nomination. */
#define BUDGETS_KEPT 2
/* Calls per nomination that wait for a quota. */
#define BUDGETS_QUOTA_WAITS 1
/* The shortest time between two times that a pod is "asked once more": with the refusal after it,
 * that makes two status changes in any five minutes. */
#define BUDGETS_REPEAT_GAP_MS INT64_C(360000)
/* The token bucket that all pods share. */
#define BUDGETS_TOKENS 5
#define BUDGETS_TOKEN_MS INT64_C(1000)

struct budgets;

struct budgets *budgets_new(void);
void budgets_free(struct budgets *budgets);

/* Each of these spends what it allows. A pod without a UID has no budget. */

/* An Error, as free GPUs are kept for the nomination of `nominee` (a UID) to `node`. */
bool budgets_kept(struct budgets *budgets, const char *uid, const char *nominee, const char *node,
                  int64_t now_ms);
/* A wait, as the quota counts pods that end on the pod's nominated node. */
bool budgets_quota_wait(struct budgets *budgets, const char *uid, const char *node, int64_t now_ms);
/* An Error, as kube-scheduler asks the same question again: the pod in this version was rejected
 * by this version of the ledger before. The first time is remembered, and spends nothing.
 * resource_version: the pod's; "" means no budget. */
bool budgets_repeat(struct budgets *budgets, const char *uid, const char *resource_version,
                    uint64_t ledger_version, int64_t now_ms);
/* One token of the bucket. budgets_repeat() takes its own. */
bool budgets_token(struct budgets *budgets, int64_t now_ms);

#endif
