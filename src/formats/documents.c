/*
 * documents: see include/formats/documents.h. JSON goes through piece by piece; the text of YAML is
 * gathered first, its objects are still made one at a time.
 */
#include "formats/documents.h"
#include "base/buf.h"
#include "formats/yaml_json.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define PIECE_BYTES ((size_t)64 * 1024)
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

struct source {
    documents_read *read;
    void *context;
    struct buf text; /* what was read and not yet handed on */
    size_t n_blank;  /* its bytes that say nothing of what it is */
    bool ended;
};

static int read_piece(struct source *source, struct err *err)
{
    char bytes[PIECE_BYTES];
    size_t n = 0;
    int r = source->read(source->context, bytes, sizeof bytes, &n, err);
    if (r < 0)
        return r;
    source->ended = n == 0;
    if (buf_add(&source->text, bytes, n) < 0)
        return err_set(err, EMSGSIZE, "is too large");
    return 0;
}

/* The first byte that is neither white space nor the byte order mark; '\0' if there is none yet. */
static char first_byte(struct source *source)
{
    const char *text = buf_text(&source->text);
    const size_t len = source->text.len;
    const size_t n_mark = strlen(BYTE_ORDER_MARK);
    if (len < n_mark && !source->ended && memcmp(text, BYTE_ORDER_MARK, len) == 0)
        return '\0';
    if (source->n_blank == 0 && strncmp(text, BYTE_ORDER_MARK, n_mark) == 0)
        source->n_blank = n_mark;
    source->n_blank += strspn(text + source->n_blank, " \t\r\n");
    return text[source->n_blank];
}

static void skip_byte_order_mark(const char **bytes, size_t *len)
{
    const size_t n = strlen(BYTE_ORDER_MARK);
    if (*len >= n && memcmp(*bytes, BYTE_ORDER_MARK, n) == 0) {
        *bytes += n;
        *len -= n;
    }
}

static int feed(struct source *source, struct json_stream *stream, struct err *err)
{
    const char *bytes = buf_text(&source->text);
    size_t len = source->text.len;
    skip_byte_order_mark(&bytes, &len);
    int r = json_stream_feed(stream, bytes, len, err);
    while (r == 0 && !source->ended) {
        buf_clear(&source->text);
        r = read_piece(source, err);
        if (r == 0)
            r = json_stream_feed(stream, buf_text(&source->text), source->text.len, err);
    }
    return r < 0 ? r : json_stream_end(stream, err);
}

static int each_json(struct source *source, const struct document_options *options,
                     const struct json_stream_handler *handler, struct err *err)
{
    const struct json_stream_options stream_options = {
        .drop = options->drop,
        .max_object_bytes = options->max_object_bytes,
        .max_depth = options->max_depth,
        .json_flags = options->json_flags,
    };
    struct json_stream *stream = json_stream_new(&stream_options, handler);
    int r = feed(source, stream, err);
    json_stream_free(stream);
    return r;
}

static int each_yaml(struct source *source, const struct document_options *options,
                     const struct json_stream_handler *handler, struct err *err)
{
    const struct yaml_options yaml_options = {
        .drop = options->drop, .max_depth = options->max_depth, .max_nodes = options->max_nodes};
    while (!source->ended) {
        int r = read_piece(source, err);
        if (r < 0)
            return r;
    }
    const char *bytes = buf_text(&source->text);
    size_t len = source->text.len;
    skip_byte_order_mark(&bytes, &len);
    return yaml_each(bytes, len, &yaml_options, handler, err);
}

int documents_each(documents_read *read, void *context, const struct document_options *options,
                   const struct json_stream_handler *handler, struct err *err)
{
    struct source source = {.read = read, .context = context};
    int r = 0;
    buf_init(&source.text, SIZE_MAX / 2);
    while (r == 0 && !source.ended && first_byte(&source) == '\0')
        r = read_piece(&source, err);
    const char first = first_byte(&source);
    if (r == 0)
        r = first == '{' || first == '[' ? each_json(&source, options, handler, err)
                                         : each_yaml(&source, options, handler, err);
    buf_fini(&source.text);
    return r;
}

struct text_at_hand {
    const char *text;
    size_t len;
};

static int read_text(void *context, char *bytes, size_t size, size_t *ret_n, struct err *err)
{
    struct text_at_hand *rest = context;
    size_t n = rest->len < size ? rest->len : size;
    (void)err;
    if (n > 0)
        memcpy(bytes, rest->text, n);
    rest->text += n;
    rest->len -= n;
    *ret_n = n;
    return 0;
}

int documents_each_text(const char *text, size_t len, const struct document_options *options,
                        const struct json_stream_handler *handler, struct err *err)
{
    struct text_at_hand rest = {text, len};
    return documents_each(read_text, &rest, options, handler, err);
}
