/*
 * token: a bearer token as it may stand in a header line.
 */
#ifndef KUBE_CONFIG_TOKEN_H
#define KUBE_CONFIG_TOKEN_H

#include "base/err.h"

/* Without the white space around it. -EINVAL: "is empty", or it has a character in it that no token
 * has (a line break would begin another header). The token is the caller's; no message shows it. */
int token_from_text(const char *text, char **ret_token, struct err *err);
/* The same for a file, which must be a regular one. The message begins with its path. */
int token_from_file(const char *path, char **ret_token, struct err *err);

#endif
