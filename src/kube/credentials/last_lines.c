/* last_lines: see exec_priv.h. */
#include "exec_priv.h"

#include <string.h>

void last_lines_add(struct last_lines *lines, const char *bytes, size_t len)
{
    if (len > LAST_LINES_BYTES) {
        bytes += len - LAST_LINES_BYTES;
        len = LAST_LINES_BYTES;
    }
    size_t kept = LAST_LINES_BYTES - len < lines->len ? LAST_LINES_BYTES - len : lines->len;
    memmove(lines->bytes, lines->bytes + lines->len - kept, kept);
    memcpy(lines->bytes + kept, bytes, len);
    lines->len = kept + len;
    lines->bytes[lines->len] = '\0';
}

static int is_white(char c)
{
    return (c >= 0 && c <= ' ') || c == 0x7f;
}

const char *last_lines_text(const struct last_lines *lines, char *ret_text)
{
    const char *p = lines->bytes;
    const char *end = p + lines->len;
    size_t n = 0;
    if (lines->len == LAST_LINES_BYTES) { /* cut, perhaps within a character */
        while (p < end && !is_white(*p))
            p++;
    }
    for (; p < end; p++) {
        if (!is_white(*p))
            ret_text[n++] = *p;
        else if (n > 0 && ret_text[n - 1] != ' ')
            ret_text[n++] = ' ';
    }
    while (n > 0 && ret_text[n - 1] == ' ')
        n--;
    ret_text[n] = '\0';
    return ret_text;
}
