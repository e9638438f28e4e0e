/*
 * base64: PEM texts in configuration files (RFC 4648, section 4, with padding).
 *
 * The decoder skips line breaks, as Go's does, and rejects any other foreign character.
 */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stddef.h>

/* -EINVAL: not base64. The caller frees the bytes, which are NUL-terminated. */
int base64_decode(const char *text, char **ret_bytes, size_t *ret_len);
/* The caller frees the text. Never NULL. */
char *base64_encode(const char *bytes, size_t len);

/* Value of a hexadecimal digit; -1: not one. */
static inline int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

#endif
