/*
 * bearer: the token of an Authorization header (RFC 6750, RFC 9110).
 */
#ifndef AUTH_BEARER_H
#define AUTH_BEARER_H

#include <stdbool.h>
#include <stddef.h>

struct bearer {
    const char *token; /* within the header; not NUL-terminated */
    size_t len;
};

/* False: another scheme, or no token: visible ASCII except " and \, so it needs no escape in
 * JSON. */
bool bearer_read(const char *authorization, struct bearer *ret_bearer);

#endif
