/* encoding: see encoding.h and include/formats/documents.h. */
#include "encoding.h"

#include "formats/documents.h"

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

size_t encoding_find_nul(const char *json, size_t len, size_t from)
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

void encoding_replace_nuls(char *json, size_t len)
{
    size_t at = 0;
    while ((at = encoding_find_nul(json, len, at)) < len)
        memcpy(json + at, "\\ufffd", ESCAPED_LEN);
}

void encoding_add_replaced(struct buf *out, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] == '\0')
            buf_add_text(out, REPLACEMENT);
        else
            buf_add(out, &bytes[i], 1);
    }
}

#define PIECE_BYTES ((size_t)16 * 1024)
#define REPLACEMENT_POINT 0xfffd

void utf16_init(struct utf16 *utf16, bytes_read *read, void *context)
{
    *utf16 = (struct utf16){.read = read, .context = context};
    buf_init(&utf16->out, BUF_UNBOUNDED); /* a piece, as UTF-8 */
}

void utf16_fini(struct utf16 *utf16)
{
    buf_fini(&utf16->out);
}

static void add_point(struct buf *out, unsigned point)
{
    static const unsigned char FIRST[] = {0, 0, 0xc0, 0xe0, 0xf0};
    const size_t len = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    char bytes[4];
    for (size_t i = len; i-- > 1; point >>= 6)
        bytes[i] = (char)(0x80 | (point & 0x3f));
    bytes[0] = (char)(FIRST[len] | point);
    buf_add(out, bytes, len);
}

static void add_unit(struct utf16 *utf16, unsigned unit)
{
    const bool is_low = unit >= 0xdc00 && unit < 0xe000;
    const bool is_high = unit >= 0xd800 && unit < 0xdc00;
    if (utf16->high && is_low) {
        add_point(&utf16->out, 0x10000 + ((utf16->high - 0xd800) << 10) + (unit - 0xdc00));
        utf16->high = 0;
        return;
    }
    if (utf16->high)
        add_point(&utf16->out, REPLACEMENT_POINT);
    utf16->high = is_high ? unit : 0;
    if (!is_high)
        add_point(&utf16->out, is_low ? REPLACEMENT_POINT : unit);
}

static void add_units(struct utf16 *utf16, const unsigned char *bytes, size_t n)
{
    const size_t i_high = utf16->encoding == UTF16_BIG ? 0 : 1;
    size_t i = 0;
    for (; i + 1 < n; i += 2)
        add_unit(utf16, (unsigned)bytes[i + i_high] << 8 | bytes[i + 1 - i_high]);
    utf16->has_left = i < n;
    utf16->left = i < n ? bytes[i] : 0;
    if (utf16->ended && (utf16->has_left || utf16->high))
        add_point(&utf16->out, REPLACEMENT_POINT);
}

static void decide(struct utf16 *utf16, const unsigned char *bytes, size_t n)
{
    const bool is_pair = n >= 2;
    utf16->encoding = UTF16_IS_UTF8;
    if (is_pair && ((bytes[0] == 0xff && bytes[1] == 0xfe) || (bytes[0] && !bytes[1])))
        utf16->encoding = UTF16_LITTLE;
    if (is_pair && ((bytes[0] == 0xfe && bytes[1] == 0xff) || (!bytes[0] && bytes[1])))
        utf16->encoding = UTF16_BIG;
}

static int read_piece(struct utf16 *utf16, struct err *err)
{
    unsigned char bytes[PIECE_BYTES];
    size_t n = 0;
    bytes[0] = utf16->left;
    const size_t n_left = utf16->has_left ? 1 : 0;
    int r = utf16->read(utf16->context, (char *)bytes + n_left, sizeof bytes - n_left, &n, err);
    if (r < 0)
        return r;
    utf16->ended = n == 0;
    n += n_left;
    utf16->has_left = utf16->encoding == UTF16_UNDECIDED && n == 1 && !utf16->ended;
    utf16->left = bytes[0];
    if (utf16->has_left)
        return 0;
    if (utf16->encoding == UTF16_UNDECIDED)
        decide(utf16, bytes, n);
    if (utf16->encoding == UTF16_IS_UTF8)
        buf_add(&utf16->out, bytes, n);
    else
        add_units(utf16, bytes, n);
    return 0;
}

int utf16_read(void *context, char *bytes, size_t size, size_t *ret_n, struct err *err)
{
    struct utf16 *utf16 = context;
    int r = 0;
    if (utf16->encoding == UTF16_IS_UTF8 && utf16->n_passed == utf16->out.len)
        return utf16->read(utf16->context, bytes, size, ret_n, err);
    if (utf16->n_passed == utf16->out.len) {
        buf_clear(&utf16->out);
        utf16->n_passed = 0;
    }
    while (r == 0 && utf16->out.len == 0 && !utf16->ended)
        r = read_piece(utf16, err);
    if (r < 0)
        return r;
    const size_t n_rest = utf16->out.len - utf16->n_passed;
    const size_t n = n_rest < size ? n_rest : size;
    memcpy(bytes, buf_text(&utf16->out) + utf16->n_passed, n);
    utf16->n_passed += n;
    *ret_n = n;
    return 0;
}

int bytes_read_at_hand(void *context, char *bytes, size_t size, size_t *ret_n, struct err *err)
{
    struct bytes_at_hand *rest = context;
    size_t n = rest->len < size ? rest->len : size;
    (void)err;
    if (n > 0) {
        memcpy(bytes, rest->text, n);
        rest->text += n;
        rest->len -= n;
    }
    *ret_n = n;
    return 0;
}
