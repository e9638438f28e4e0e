/* base64: see include/base/base64.h. */
#include "base/base64.h"
#include "base/mem.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Four digits make three bytes. */
struct group {
    uint32_t bits;
    size_t n_digits;
    size_t n_padding;
};

static bool group_add(struct group *group, char c)
{
    const char *digit = strchr(DIGITS, c);
    if (c == '=')
        group->n_padding++;
    else if (!digit || group->n_padding > 0)
        return false;
    group->bits = group->bits << 6 | (c == '=' ? 0 : (uint32_t)(digit - DIGITS));
    group->n_digits++;
    return group->n_padding <= 2 && group->n_digits > group->n_padding + (group->n_padding > 0);
}

/* Unused bits must be 0, so that every value has one text. */
static bool group_has_no_rest(const struct group *group)
{
    uint32_t unused = ((uint32_t)1 << (8 * group->n_padding)) - 1;
    return (group->bits & unused) == 0;
}

static size_t group_write(const struct group *group, char *out)
{
    size_t n = 3 - group->n_padding;
    for (size_t i = 0; i < n; i++)
        out[i] = (char)(group->bits >> (16 - 8 * i) & 0xff);
    return n;
}

static int decode(const char *text, char *out, size_t *ret_len)
{
    struct group group = {0};
    size_t len = 0;
    for (const char *p = text; *p; p++) {
        if (*p == '\n' || *p == '\r')
            continue;
        if (group.n_digits == 4) /* digits after the padding */
            return -EINVAL;
        if (!group_add(&group, *p))
            return -EINVAL;
        if (group.n_digits < 4)
            continue;
        if (!group_has_no_rest(&group))
            return -EINVAL;
        len += group_write(&group, out + len);
        if (group.n_padding == 0)
            group = (struct group){0};
    }
    if (group.n_digits % 4 != 0)
        return -EINVAL;
    *ret_len = len;
    return 0;
}

int base64_decode(const char *text, char **ret_bytes, size_t *ret_len)
{
    char *bytes = mem_new(strlen(text) / 4 * 3 + 4);
    int r = decode(text, bytes, ret_len);
    if (r < 0)
        free(bytes);
    else
        *ret_bytes = bytes;
    return r;
}

char *base64_encode(const char *bytes, size_t len)
{
    char *text = mem_new((len + 2) / 3 * 4 + 1);
    char *out = text;
    for (size_t i = 0; i < len; i += 3) {
        size_t n = len - i < 3 ? len - i : 3;
        uint32_t bits = 0;
        for (size_t j = 0; j < 3; j++)
            bits = bits << 8 | (j < n ? (unsigned char)bytes[i + j] : 0);
        for (size_t j = 0; j < 4; j++)
            *out++ = j <= n ? DIGITS[bits >> (18 - 6 * j) & 0x3f] : '=';
    }
    return text;
}
