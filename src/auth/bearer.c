/* bearer: see bearer.h. */
#include "bearer.h"

#include <string.h>
#include <strings.h>

#define SCHEME "Bearer "

static bool may_be_in_token(char c)
{
    return c > ' ' && c <= '~' && c != '"' && c != '\\';
}

bool bearer_read(const char *authorization, struct bearer *ret_bearer)
{
    if (strncasecmp(authorization, SCHEME, strlen(SCHEME)) != 0)
        return false;
    const char *token = authorization + strlen(SCHEME);
    token += strspn(token, " ");
    size_t len = 0;
    while (may_be_in_token(token[len]))
        len++;
    if (len == 0 || token[len + strspn(token + len, " ")])
        return false;
    *ret_bearer = (struct bearer){token, len};
    return true;
}
