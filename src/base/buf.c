/* buf: see include/base/buf.h. */
#include "base/buf.h"
#include "base/mem.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buf_init(struct buf *buf, size_t max)
{
    *buf = (struct buf){.max = max};
}

void buf_fini(struct buf *buf)
{
    free(buf->data);
    *buf = (struct buf){.max = buf->max};
}

static int make_room(struct buf *buf, size_t more)
{
    if (more > buf->max - buf->len)
        return -ENOBUFS;
    size_t need = buf->len + more + 1;
    if (need <= buf->size)
        return 0;
    size_t size = buf->size ? buf->size : 256;
    while (size < need)
        size = size > SIZE_MAX / 2 ? need : size * 2;
    buf->data = mem_grow(buf->data, size, 1);
    buf->size = size;
    return 0;
}

int buf_add(struct buf *buf, const void *bytes, size_t len)
{
    int r = make_room(buf, len);
    if (r < 0)
        return r;
    if (len > 0)
        memcpy(buf->data + buf->len, bytes, len);
    buf->len += len;
    buf->data[buf->len] = '\0';
    return 0;
}

int buf_add_text(struct buf *buf, const char *text)
{
    return buf_add(buf, text, strlen(text));
}

int buf_printf(struct buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    int r = len < 0 ? -EINVAL : make_room(buf, (size_t)len);
    if (r == 0) {
        (void)vsnprintf(buf->data + buf->len, (size_t)len + 1, format, again);
        buf->len += (size_t)len;
    }
    va_end(again);
    return r;
}

static int add_escaped(struct buf *buf, unsigned char c)
{
    static const char *const SHORT[256] = {
        ['"'] = "\\\"", ['\\'] = "\\\\", ['\n'] = "\\n", ['\r'] = "\\r", ['\t'] = "\\t"};
    if (SHORT[c])
        return buf_add_text(buf, SHORT[c]);
    if (c < 0x20 || c == 0x7f)
        return buf_printf(buf, "\\u%04x", c);
    return buf_add(buf, &c, 1);
}

int buf_add_quoted(struct buf *buf, const char *text)
{
    int r = buf_add(buf, "\"", 1);
    for (const char *p = text; r == 0 && *p; p++)
        r = add_escaped(buf, (unsigned char)*p);
    return r < 0 ? r : buf_add(buf, "\"", 1);
}

void buf_clear(struct buf *buf)
{
    buf->len = 0;
    if (buf->data)
        buf->data[0] = '\0';
}

const char *buf_text(const struct buf *buf)
{
    return buf->data ? buf->data : "";
}

char *buf_take(struct buf *buf)
{
    char *data = buf->data ? buf->data : mem_strdup("");
    *buf = (struct buf){.max = buf->max};
    return data;
}
