/*
 * token: a bearer token that is safe in a header line.
 */
#ifndef KUBE_CONFIG_TOKEN_H
#define KUBE_CONFIG_TOKEN_H

#include "base/err.h"

/* Trims white space. -EINVAL: empty, or a character that no token has (a line break would start
 * another header). The caller owns the token; no message shows it. */
int token_from_text(const char *text, char **ret_token, struct err *err);
/* The same for a regular file. The message begins with its path. */
int token_from_file(const char *path, char **ret_token, struct err *err);

#endif
