/* json_put: see include/formats/json_put.h. */
#include "formats/json_put.h"

#include <stdlib.h>
#include <string.h>

static int add(const char *bytes, size_t len, void *out)
{
    struct buf *buf = out;
    buf_add(buf, bytes, len);
    return buf->overflowed ? -1 : 0;
}

void json_put(const json_t *value, size_t flags, struct buf *out)
{
    if (json_dump_callback(value, add, out, flags | JSON_ENCODE_ANY) < 0)
        out->overflowed = true;
}

char *json_take_text(json_t *value, size_t flags, size_t *ret_len)
{
    char *text = json_dumps(value, flags | JSON_ENCODE_ANY);
    json_decref(value);
    if (!text)
        abort(); /* out of memory: jansson's strings are always valid UTF-8 */
    *ret_len = strlen(text);
    return text;
}
