/*
 * findings: what the checks found, in their order, and its two forms of output.
 *
 * Some are added by kubectl gpu doctor, too.
 *
 * A finding quotes files and answers of servers, so its text is bounded and written without control
 * characters. The list has a maximum; the findings beyond it are counted.
 */
#ifndef DOCTOR_FINDINGS_H
#define DOCTOR_FINDINGS_H

#include "base/buf.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define FINDINGS_MAX 500

struct findings;

struct findings *findings_new(void) __attribute__((returns_nonnull));
void findings_free(struct findings *findings);

enum finding_level { FINDING_OK, FINDING_WARN, FINDING_FAIL, N_FINDING_LEVELS };

/* check: a name that stays the same, such as "scheduler.weight". advice: what to do; "": nothing.
 * The rest is what was seen. All are copied. */
void findings_add(struct findings *findings, enum finding_level level, const char *check,
                  const char *advice, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* A warn: the check could not be made. why: "--cluster-file has no certificates". */
void findings_not_checked(struct findings *findings, const char *check, const char *advice,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));

/* nodes.sick: the nodes of an answer of /v1/inventory that have a quarantine or shape traps. */
void findings_add_sick(struct findings *findings, const json_t *inventory);
/* Where the pods of kube-schedulers are; ends with NULL. */
extern const char *const FINDINGS_SCHEDULER_PATHS[];
/* scheduler.running: whether these pods run with the configuration that has the extender. With a
 * second scheduler for GPU pods among them, the others do not count. */
void findings_add_schedulers(struct findings *findings, const json_t *pods);

bool findings_has_fail(const struct findings *findings);

/* A line for each finding and one with their numbers. */
void findings_write_text(const struct findings *findings, struct buf *out);
/* {"findings": [{"level", "check", "seen", "advice"}], "ok", "warn", "fail", "notChecked",
 * "leftOut"}: notChecked are among the warns, leftOut are beyond FINDINGS_MAX. */
void findings_write_json(const struct findings *findings, struct buf *out);

#endif
