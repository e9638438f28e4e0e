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

/* False: it is another scheme, or what follows is no token: visible ASCII but for " and \, so that
 * it goes into JSON as it is. */
bool bearer_read(const char *authorization, struct bearer *ret_bearer);

#endif
