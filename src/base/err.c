/* err: see include/base/err.h. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Removes a truncated UTF-8 character, because the text may go into a JSON string. */
static void end_on_character(struct err *err)
{
    size_t len = strlen(err->text);
    size_t start = len;
    if (len < sizeof err->text - 1)
        return;
    while (start > 0 && ((unsigned char)err->text[start - 1] & 0xc0) == 0x80)
        start--;
    if (start > 0 && (unsigned char)err->text[start - 1] >= 0xc0)
        err->text[start - 1] = '\0';
}

int err_set(struct err *err, int code, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        (void)vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
        end_on_character(err);
    }
    return -code;
}

void err_prefix(struct err *err, const char *format, ...)
{
    if (!err)
        return;
    struct err old = *err;
    va_list args;
    va_start(args, format);
    int written = vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    size_t at = written < 0 ? 0 : (size_t)written;
    if (at < sizeof err->text)
        (void)snprintf(err->text + at, sizeof err->text - at, "%s", old.text);
    end_on_character(err);
}
