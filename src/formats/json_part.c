/* json_part: see json_part.h. */
#include "json_part.h"

#include "base/buf.h"
#include "nul.h"

#include <stdbool.h>
#include <string.h>

/* The brackets that close all open containers, innermost last. */
static void find_open(const char *text, size_t len, struct buf *closers)
{
    bool in_string = false;
    for (size_t i = 0; i < len; i++) {
        const char c = text[i];
        if (in_string && c == '\\')
            i++;
        else if (c == '"')
            in_string = !in_string;
        else if (in_string)
            continue;
        else if (c == '{' || c == '[')
            buf_add(closers, c == '{' ? "}" : "]", 1);
        else if (c == '}' || c == ']')
            closers->len--;
    }
}

json_t *json_part(const char *text, size_t len, size_t json_flags)
{
    struct buf closers;
    struct buf whole;
    buf_init(&closers, len);
    find_open(text, len, &closers);
    buf_init(&whole, len + closers.len);
    buf_add(&whole, text, len);
    while (closers.len > 0)
        buf_add(&whole, &closers.data[--closers.len], 1);
    nul_replace_escaped(whole.data, whole.len);
    json_t *part = json_loadb(whole.data, whole.len, json_flags, NULL);
    buf_fini(&whole);
    buf_fini(&closers);
    return part;
}
