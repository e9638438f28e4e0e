/*
 * buf: bytes that grow up to a maximum given to buf_init(). The text is always NUL-terminated.
 *
 * A piece that does not fit is left out and sets `overflowed`. Code that uses the text checks that
 * once, unless the parts are bounded (BUF_UNBOUNDED) or a message may be cut.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Maximum for text whose parts have maximums of their own. */
#define BUF_UNBOUNDED (SIZE_MAX / 2)

struct buf {
    char *data;
    size_t len;
    size_t size;
    size_t max;      /* maximum bytes of content */
    bool is_secret;  /* memory is wiped before it is freed */
    bool overflowed; /* a piece did not fit since buf_init() or buf_clear() */
};

void buf_init(struct buf *buf, size_t max);
/* The same for secrets: memory is wiped before it is freed. */
void buf_init_secret(struct buf *buf, size_t max);
void buf_fini(struct buf *buf);

/* Adds nothing if the content would exceed the maximum. */
void buf_add(struct buf *buf, const void *bytes, size_t len);
/* Whether n bytes more fit; makes room for them. */
bool buf_make_room(struct buf *buf, size_t n);
/* Adds n bytes, which the caller fills in. NULL: they do not fit. Inline, for thousands of names.
 */
static inline char *buf_extend(struct buf *buf, size_t n)
{
    if (n >= buf->size - buf->len && !buf_make_room(buf, n))
        return NULL;
    char *at = buf->data + buf->len;
    buf->len += n;
    at[n] = '\0'; // NOLINT(clang-analyzer-core.NullDereference): there is room, so there is data
    return at;
}
/* Inline, so that the length of a literal is a constant. */
static inline void buf_add_text(struct buf *buf, const char *text)
{
    buf_add(buf, text, strlen(text));
}
void buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds the text in double quotes with JSON's escapes (logfmt reads them too), also for all
 * characters of buf_control(). Invalid UTF-8 becomes U+FFFD. If the text does not fit, adds its
 * beginning. */
void buf_add_quoted(struct buf *buf, const char *text);
/* The same if strlen(text) is known. */
void buf_add_quoted_len(struct buf *buf, const char *text, size_t len);
/* Adds JSON's escape of a character. */
void buf_add_escape(struct buf *buf, unsigned code);
/* The length of the control, invisible or bidirectional character that the text begins with
 * ("hidden", buf.c); 0: another one. ret_code stays unchanged then. */
size_t buf_control(const char *text, unsigned *ret_code);
/* Adds foreign text with spaces for control, invisible and bidirectional characters: it must not
 * imitate our lines, control a terminal or look like other text. Invalid UTF-8 becomes U+FFFD. */
void buf_add_one_line(struct buf *buf, const char *text);
void buf_add_decimal(struct buf *buf, int64_t number);

void buf_clear(struct buf *buf);
/* Never NULL. Valid until the next change. */
const char *buf_text(const struct buf *buf);
/* Gives the memory to the caller (free()) and leaves the buffer empty. Never NULL. */
char *buf_take(struct buf *buf);

#endif
