/*
 * manifests: the files that -f names, as kubectl's: files, folders, standard input.
 */
#ifndef KUBECTL_MANIFESTS_H
#define KUBECTL_MANIFESTS_H

#include "session.h"

#include <jansson.h>
#include <stdbool.h>

/* Reads them in their order, those of a folder by name, as texts appended to the list, and notes
 * their names in the session. Returns the status, after a complaint. */
int manifests_read(struct session *session, json_t *texts);
/* The same where these texts must be UTF-8, as in JSON. */
int manifests_check_utf8(const struct session *session, const json_t *texts);
/* The reasons of unreadable objects in a dry run or what-if, so. */
void manifests_name_skipped(const struct session *session, json_t *result);
/* A message with the name of a file in place of "manifest", or of "workloads[I]" where I is the
 * place of one of these texts. */
const char *manifests_named(const struct session *session, const char *message);
/* Writes such a message as a mistake; returns the status. */
int manifests_complain(const struct session *session, const char *message);

/* ---- the verdict on the workloads of a dry run or a what-if, as an exit status for CI ---- */

/* enum end; are_asked: the request has manifests, so an answer without workloads is a mistake. */
int workloads_judge(const json_t *result, bool are_asked);
/* Whether it is a whole number from 0. */
bool workloads_is_count(const json_t *value);

#endif
