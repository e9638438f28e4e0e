/* nul: see nul.h. */
#include "nul.h"

#include <stdbool.h>
#include <string.h>

#define ESCAPED "\\u0000"
#define ESCAPED_LEN (sizeof ESCAPED - 1)
#define REPLACEMENT "\xef\xbf\xbd"

/* In "\\u0000" the second backslash is itself escaped, so there is no escape. */
static bool is_escape(const char *json, size_t at)
{
    size_t n_before = 0;
    while (n_before < at && json[at - n_before - 1] == '\\')
        n_before++;
    return n_before % 2 == 0;
}

size_t nul_find_escaped(const char *json, size_t len, size_t from)
{
    while (from < len) {
        const char *found = memmem(json + from, len - from, ESCAPED, ESCAPED_LEN);
        if (!found)
            break;
        size_t at = (size_t)(found - json);
        if (is_escape(json, at))
            return at;
        from = at + ESCAPED_LEN;
    }
    return len;
}

void nul_replace_escaped(char *json, size_t len)
{
    size_t at = 0;
    while ((at = nul_find_escaped(json, len, at)) < len)
        memcpy(json + at, "\\ufffd", ESCAPED_LEN);
}

void nul_add_replaced(struct buf *out, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] == '\0')
            buf_add_text(out, REPLACEMENT);
        else
            buf_add(out, &bytes[i], 1);
    }
}
