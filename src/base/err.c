/* err: see include/base/err.h. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *err, int code, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        (void)vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
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
}
