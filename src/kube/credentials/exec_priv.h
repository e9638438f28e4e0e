/*
 * exec_priv: the parts of credential plugins: the process, its answer, its pace, its last lines.
 */
#ifndef KUBE_CREDENTIALS_EXEC_PRIV_H
#define KUBE_CREDENTIALS_EXEC_PRIV_H

#include "base/buf.h"
#include "base/err.h"
#include "kube/target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- runs a credential plugin once, to its end or its time-out ---- */

/* info: the value of KUBERNETES_EXEC_INFO; answer receives standard output. The plugin and its
 * children are killed on a time-out, if answer overflows, or if stop_fd becomes readable
 * (-ECANCELED). Messages name the command and quote the end of standard error, never the answer. */
int exec_process_run(const struct kube_exec *exec, const char *info, int64_t timeout_ms,
                     int stop_fd, struct buf *answer, struct err *err);
/* Whether the command exists and may be run; else -errno, with the message of a failed run. */
int exec_process_check(const struct kube_exec *exec, struct err *err);

/* ---- exec credential ---- */
/* The input and the output of a credential plugin.  Source: Kubernetes, "client-go credential
 * plugins"; the type ExecCredential of client.authentication.k8s.io/v1. */

/* Strings are owned; NULL if the plugin gave none. */
struct exec_credential {
    char *token;
    char *cert_pem, *key_pem;
    int64_t expires_s; /* since 1970; INT64_MAX: no expiry given */
};

void exec_credential_fini(struct exec_credential *credential);

/* -EINVAL: "its answer ...", never quoting the answer. */
int exec_credential_parse(const char *text, size_t len, struct exec_credential *ret_credential,
                          struct err *err);

/* Returns the value of KUBERNETES_EXEC_INFO; the caller frees it. Reads the CA file if
 * provideClusterInfo is set. */
int exec_credential_ask(const struct kube_target *target, char **ret_text, struct err *err);

/* ---- exec pace ---- */
/* When to run a credential plugin again. No clock, no thread. */

#define EXEC_PACE_LEAST_MS 5000 /* between successful runs, unless requested */
#define EXEC_PACE_FIRST_MS 1000 /* after a failed or requested run, doubling up to: */
#define EXEC_PACE_LAST_MS 60000

/* Initialize with zeros. */
struct exec_pace {
    int64_t due_ms; /* CLOCK_NEVER: only on request */
    int64_t ran_ms;
    int64_t gap_ms; /* the current doubling delay; 0: none yet */
    bool asked;
};

/* A run has ended, successfully or not. lasts_ms: lifetime of the credential; CLOCK_NEVER:
 * unknown. */
void exec_pace_succeeded(struct exec_pace *pace, int64_t now_ms, int64_t lasts_ms);
void exec_pace_failed(struct exec_pace *pace, int64_t now_ms);
/* The API server has rejected the last credential. */
void exec_pace_ask(struct exec_pace *pace, int64_t now_ms);

/* ---- the end of a program's output, as one line ---- */

#define LAST_LINES_BYTES 300

struct last_lines {
    char bytes[LAST_LINES_BYTES + 1]; /* NUL-terminated */
    size_t len;
};

void last_lines_add(struct last_lines *lines, const char *bytes, size_t len);
/* One line without control characters or outer white space; "" if empty. Starts at a whole word if
 * the text was cut. ret_text has LAST_LINES_BYTES + 1 bytes and is returned. */
const char *last_lines_text(const struct last_lines *lines, char *ret_text);

#endif
