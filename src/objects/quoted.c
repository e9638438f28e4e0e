/* quoted: see quoted.h. */
#include "quoted.h"

#include "base/buf.h"

#include <string.h>

#define SHOWN_BYTES_MAX 60
/* Each byte may become \u0000, plus the quotes. */
#define QUOTED_BYTES_MAX (SHOWN_BYTES_MAX * 6 + 2)

const char *quoted_plain(struct arena *arena, const char *text)
{
    size_t len = strnlen(text, SHOWN_BYTES_MAX + 1);
    if (len <= SHOWN_BYTES_MAX)
        return arena_strdup(arena, text);
    len = SHOWN_BYTES_MAX;
    while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
        len--;
    return arena_printf(arena, "%.*s...", (int)len, text);
}

const char *quoted(struct arena *arena, const char *text)
{
    struct buf out;
    buf_init(&out, QUOTED_BYTES_MAX + 3);
    buf_add_quoted(&out, quoted_plain(arena, text));
    const char *copy = arena_strdup(arena, buf_text(&out));
    buf_fini(&out);
    return copy;
}
