/*
 * hex: value of a hexadecimal digit.
 */
#ifndef BASE_HEX_H
#define BASE_HEX_H

/* -1: not a hexadecimal digit. */
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
