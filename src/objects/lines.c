/* lines: see lines.h. */
#include "lines.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void lines_add(struct lines *lines, const char *format, ...)
{
    if (lines->n++ >= LINES_MAX)
        return;
    va_list args;
    va_start(args, format);
    char *text CLEANUP(mem_free_ptr) = NULL;
    int len = vasprintf(&text, format, args);
    va_end(args);
    if (len < 0)
        abort();
    lines->items[lines->n - 1] = arena_strdup(lines->arena, text);
}

struct text_list lines_list(struct lines *lines)
{
    size_t n = lines->n < LINES_MAX ? lines->n : LINES_MAX;
    if (lines->n > LINES_MAX)
        lines->items[n - 1] = arena_printf(lines->arena, "and %zu more", lines->n - n + 1);
    return (struct text_list){arena_copy(lines->arena, lines->items, n, sizeof *lines->items), n};
}
