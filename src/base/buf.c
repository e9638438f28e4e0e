/* buf: see include/base/buf.h. */
#include "base/buf.h"
#include "base/mem.h"
#include "base/words.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The table of such characters.
 *
 * Source: Unicode 17.0, the general categories Cc, Cf, Zl and Zp (UnicodeData.txt) and the
 * property Default_Ignorable_Code_Point (DerivedCoreProperties.txt), without U+0000, which ends a
 * text. The page (src/ui/page/fetching.js) asks the browser for the same properties; tests/ui
 * compares them. */

static const struct {
    unsigned first, last;
} RANGES[] = {
    {0x01, 0x1f},       {0x7f, 0x9f},       {0xad, 0xad},       {0x34f, 0x34f},
    {0x600, 0x605},     {0x61c, 0x61c},     {0x6dd, 0x6dd},     {0x70f, 0x70f},
    {0x890, 0x891},     {0x8e2, 0x8e2},     {0x115f, 0x1160},   {0x17b4, 0x17b5},
    {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},
    {0x3164, 0x3164},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
    {0xfff0, 0xfffb},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1343f},
    {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

/* Whether the code point is a control or format character, a line or paragraph separator, or one
 * that Unicode calls "default ignorable", which programs without a glyph for it show as nothing.
 * The latter include code points that are not assigned yet. */
static bool hidden_is_code(unsigned code)
{
    size_t i = 0;
    while (i < sizeof RANGES / sizeof *RANGES && code > RANGES[i].last)
        i++;
    return i < sizeof RANGES / sizeof *RANGES && code >= RANGES[i].first;
}

void buf_init(struct buf *buf, size_t max)
{
    *buf = (struct buf){.max = max};
}

void buf_init_secret(struct buf *buf, size_t max)
{
    *buf = (struct buf){.max = max, .is_secret = true};
}

static void leave_empty(struct buf *buf)
{
    *buf = (struct buf){.max = buf->max, .is_secret = buf->is_secret};
}

void buf_fini(struct buf *buf)
{
    if (buf->is_secret && buf->data)
        explicit_bzero(buf->data, buf->size);
    free(buf->data);
    leave_empty(buf);
}

/* realloc() would leave a copy of the secret behind. */
static char *grow_secret(struct buf *buf, size_t size)
{
    char *data = mem_new(size);
    if (buf->data) {
        memcpy(data, buf->data, buf->len + 1);
        explicit_bzero(buf->data, buf->size);
    }
    free(buf->data);
    return data;
}

static bool grow(struct buf *buf, size_t more)
{
    size_t need = buf->len + more + 1;
    size_t size = buf->size ? buf->size : 256;
    while (size < need)
        size = size > SIZE_MAX / 2 ? need : size * 2;
    if (size > buf->max)
        size = buf->max + 1; /* buf_extend() looks at the size only */
    buf->data = buf->is_secret ? grow_secret(buf, size) : mem_grow(buf->data, size, 1);
    buf->size = size;
    return true;
}

bool buf_make_room(struct buf *buf, size_t more)
{
    if (more > buf->max - buf->len) {
        buf->overflowed = true;
        return false;
    }
    return more < buf->size - buf->len || grow(buf, more);
}

static bool add(struct buf *buf, const void *bytes, size_t len)
{
    char *at = buf_extend(buf, len);
    if (at && len > 0)
        memcpy(at, bytes, len);
    return at;
}

void buf_add(struct buf *buf, const void *bytes, size_t len)
{
    (void)add(buf, bytes, len);
}

void buf_printf(struct buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len < 0) {
        buf->overflowed = true; /* more than INT_MAX */
    } else if (buf_make_room(buf, (size_t)len)) {
        (void)vsnprintf(buf->data + buf->len, (size_t)len + 1, format, again);
        buf->len += (size_t)len;
    }
    va_end(again);
}

static bool add_unit(struct buf *buf, unsigned unit)
{
    char escape[sizeof "\\u0000"];
    (void)snprintf(escape, sizeof escape, "\\u%04x", unit & 0xffffU);
    return add(buf, escape, sizeof escape - 1);
}

static bool add_escaped(struct buf *buf, unsigned c)
{
    static const char *const SHORT[128] = {
        ['"'] = "\\\"", ['\\'] = "\\\\", ['\n'] = "\\n", ['\r'] = "\\r", ['\t'] = "\\t"};
    if (c < 128 && SHORT[c])
        return add(buf, SHORT[c], 2);
    if (c <= 0xffff)
        return add_unit(buf, c);
    /* RFC 8259, section 7: a surrogate pair */
    return add_unit(buf, 0xd7c0 + (c >> 10)) && add_unit(buf, 0xdc00 | (c & 0x3ff));
}

void buf_add_escape(struct buf *buf, unsigned code)
{
    (void)add_escaped(buf, code);
}

/* RFC 3629, section 4: valid second bytes for each first byte. */
static const struct utf8_row {
    unsigned char first, first_end, second, second_end, len;
} UTF8_ROWS[] = {{0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
                 {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3},
                 {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
                 {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};

/* Length of the multi-byte UTF-8 sequence at p; 0 if invalid. */
static size_t utf8_len(const unsigned char *p)
{
    const struct utf8_row *row = UTF8_ROWS;
    const struct utf8_row *end = row + sizeof UTF8_ROWS / sizeof *UTF8_ROWS;
    while (row < end && (p[0] < row->first || p[0] > row->first_end))
        row++;
    if (row == end || p[1] < row->second || p[1] > row->second_end)
        return 0;
    for (size_t i = 2; i < row->len; i++) {
        if ((p[i] & 0xc0) != 0x80) /* also at the end of the text */
            return 0;
    }
    return row->len;
}

/* Length of the prefix that needs no escape. */
static size_t plain_len(const unsigned char *text)
{
    const unsigned char *p = text;
    while (*p >= 0x20 && *p < 0x7f && *p != '"' && *p != '\\')
        p++;
    return (size_t)(p - text);
}

/* The code point of a valid sequence. */
static unsigned code_of(const unsigned char *p, size_t len)
{
    static const unsigned char FIRST_BITS[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    unsigned code = p[0] & FIRST_BITS[len];
    for (size_t i = 1; i < len; i++)
        code = code << 6 | (p[i] & 0x3fU);
    return code;
}

size_t buf_control(const char *text, unsigned *ret_code)
{
    const unsigned char *p = (const unsigned char *)text;
    const size_t len = *p < 0x80 ? 1 : utf8_len(p);
    if (len == 0 || !hidden_is_code(code_of(p, len)))
        return 0;
    *ret_code = code_of(p, len);
    return len;
}

/* Adds the character or the byte at p. Returns its length; 0: it does not fit. */
static size_t add_quoted_char(struct buf *buf, const unsigned char *p)
{
    unsigned code = *p;
    const size_t control = buf_control((const char *)p, &code);
    const size_t len = utf8_len(p);
    if (control > 0 || *p < 0x80)
        return add_escaped(buf, code) ? control + (control == 0) : 0;
    if (len > 0)
        return add(buf, p, len) ? len : 0;
    return add(buf, "\\ufffd", 6);
}

static bool add_quoted_text(struct buf *buf, const unsigned char *p)
{
    while (*p) {
        const size_t n_plain = plain_len(p);
        const size_t len = n_plain == 0           ? add_quoted_char(buf, p)
                           : add(buf, p, n_plain) ? n_plain
                                                  : 0;
        if (len == 0)
            return false;
        p += len;
    }
    return true;
}

/* Whether no character needs an escape, as in nearly all names and messages. */
static bool is_plain(const char *text, size_t len)
{
    if (len < sizeof(uint64_t))
        return plain_len((const unsigned char *)text) == len;
    uint64_t specials = 0;
    for (size_t i = 0; i < len; i += sizeof(uint64_t)) {
        const size_t last = len - sizeof(uint64_t);
        const uint64_t word = word_at(text + (i < last ? i : last));
        const uint64_t deletes = word ^ (WORD_ONES * 0x7f);
        specials |= word_specials(word) | ((deletes - WORD_ONES) & ~deletes);
    }
    return (specials & (WORD_ONES * 0x80)) == 0;
}

static bool add_quoted_plain(struct buf *buf, const char *text, size_t len)
{
    char *at = is_plain(text, len) ? buf_extend(buf, len + 2) : NULL;
    if (!at)
        return false;
    *at = '"';
    memcpy(at + 1, text, len);
    at[len + 1] = '"';
    return true;
}

void buf_add_quoted(struct buf *buf, const char *text)
{
    buf_add_quoted_len(buf, text, strlen(text));
}

void buf_add_quoted_len(struct buf *buf, const char *text, size_t len)
{
    if (add_quoted_plain(buf, text, len))
        return;
    if (add(buf, "\"", 1) && add_quoted_text(buf, (const unsigned char *)text))
        (void)add(buf, "\"", 1);
}

void buf_add_one_line(struct buf *buf, const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    while (*p) {
        const size_t len = *p < 0x80 ? 1 : utf8_len(p);
        unsigned code = 0;
        if (buf_control((const char *)p, &code) > 0)
            buf_add_text(buf, " ");
        else if (len > 0)
            buf_add(buf, p, len);
        else
            buf_add_text(buf, "\xef\xbf\xbd");
        p += len ? len : 1;
    }
}

void buf_add_decimal(struct buf *buf, int64_t number)
{
    char digits[24];
    char *p = digits + sizeof digits;
    uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;
    do {
        *--p = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (number < 0)
        *--p = '-';
    (void)add(buf, p, (size_t)(digits + sizeof digits - p));
}

void buf_clear(struct buf *buf)
{
    if (buf->is_secret && buf->data)
        explicit_bzero(buf->data, buf->size);
    buf->len = 0;
    buf->overflowed = false;
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
    leave_empty(buf);
    return data;
}
