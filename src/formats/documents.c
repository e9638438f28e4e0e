/* documents: see include/formats/documents.h. Detects the format from the first bytes, then passes
 * all on. */
#include "formats/documents.h"
#include "base/buf.h"
#include "encoding.h"
#include "formats/yaml_json.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define PIECE_BYTES ((size_t)64 * 1024)
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

struct source {
    bytes_read *read;
    void *context;
    struct buf beginning; /* read to detect the format */
    size_t n_blank;       /* its leading blank bytes */
    size_t n_passed;      /* its bytes passed on */
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
    buf_add(&source->beginning, bytes, n);
    return 0;
}

/* The first byte after white space and a byte order mark; -1: none yet. */
static int first_byte(struct source *source)
{
    const char *text = buf_text(&source->beginning);
    const size_t len = source->beginning.len;
    const size_t n_mark = strlen(BYTE_ORDER_MARK);
    if (len < n_mark && !source->ended && memcmp(text, BYTE_ORDER_MARK, len) == 0)
        return -1;
    if (source->n_blank == 0 && strncmp(text, BYTE_ORDER_MARK, n_mark) == 0)
        source->n_blank = n_mark;
    source->n_blank += strspn(text + source->n_blank, " \t\r\n");
    return source->n_blank < len ? (unsigned char)text[source->n_blank] : -1;
}

/* Passes on the buffered beginning, then the rest. */
static int pass_on(void *context, char *bytes, size_t size, size_t *ret_n, struct err *err)
{
    struct source *source = context;
    size_t n = source->beginning.len - source->n_passed;
    if (n == 0)
        return source->read(source->context, bytes, size, ret_n, err);
    n = n < size ? n : size;
    memcpy(bytes, buf_text(&source->beginning) + source->n_passed, n);
    source->n_passed += n;
    *ret_n = n;
    return 0;
}

static void skip_byte_order_mark(struct source *source)
{
    if (strncmp(buf_text(&source->beginning), BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0)
        source->n_passed = strlen(BYTE_ORDER_MARK);
}

static int feed(struct source *source, struct json_stream *stream, struct err *err)
{
    char bytes[PIECE_BYTES];
    size_t n = 0;
    int r = 0;
    do {
        r = pass_on(source, bytes, sizeof bytes, &n, err);
        if (r == 0)
            r = json_stream_feed(stream, bytes, n, err);
    } while (r == 0 && n > 0);
    return r < 0 ? r : json_stream_end(stream, err);
}

static int each_json(struct source *source, const struct document_options *options,
                     const struct json_stream_handler *handler, struct err *err)
{
    const struct json_stream_options stream_options = {
        .drop = options->drop,
        .keep = options->keep,
        .keep_least = options->keep_least,
        .object_budget = options->object_budget,
        .budget = options->budget,
        .spent = options->spent,
        .max_object_bytes = options->max_object_bytes,
        .max_depth = options->max_depth,
        .json_flags = options->json_flags,
    };
    struct json_stream *stream = json_stream_new(&stream_options, handler);
    skip_byte_order_mark(source);
    int r = feed(source, stream, err);
    json_stream_free(stream);
    return r;
}

static int each_yaml(struct source *source, const struct document_options *options,
                     const struct json_stream_handler *handler, struct err *err)
{
    const struct json_budget *object_budget = options->object_budget;
    const struct yaml_options yaml_options = {.drop = options->drop,
                                              .max_depth = options->max_depth,
                                              .max_values = options->max_values,
                                              .values_key =
                                                  object_budget ? object_budget->values_key : NULL,
                                              .max_alias_values = options->max_alias_values,
                                              .budget = options->budget,
                                              .spent = options->spent};
    return yaml_each(pass_on, source, &yaml_options, handler, err);
}

/* has_separators: it is YAML, whatever it begins with. */
static int each(bytes_read *read, void *context, bool has_separators,
                const struct document_options *options, const struct json_stream_handler *handler,
                struct err *err)
{
    struct utf16 utf16;
    struct source source = {.read = utf16_read, .context = &utf16};
    int r = 0;
    utf16_init(&utf16, read, context);
    buf_init(&source.beginning, BUF_UNBOUNDED);
    while (r == 0 && !source.ended && first_byte(&source) < 0)
        r = read_piece(&source, err);
    const int first = first_byte(&source);
    const bool is_json = !has_separators && (first == '{' || first == '[');
    if (r == 0)
        r = is_json ? each_json(&source, options, handler, err)
                    : each_yaml(&source, options, handler, err);
    buf_fini(&source.beginning);
    utf16_fini(&utf16);
    return r;
}

int documents_each(bytes_read *read, void *context, const struct document_options *options,
                   const struct json_stream_handler *handler, struct err *err)
{
    return each(read, context, false, options, handler, err);
}

/* Whether the text has a line "---", which is in no string of JSON. */
static bool has_separators(const char *text, size_t len)
{
    static const char LINE[] = "\n---";
    static const char BLANKS[] = {' ', '\t', '\r', '\n'};
    const char *end = text + len;
    const char *at = text;
    while (len > 0 && (at = memmem(at, (size_t)(end - at), LINE, strlen(LINE)))) {
        at += strlen(LINE);
        if (at == end || memchr(BLANKS, *at, sizeof BLANKS))
            return true;
    }
    return false;
}

int documents_each_text(const char *text, size_t len, const struct document_options *options,
                        const struct json_stream_handler *handler, struct err *err)
{
    struct bytes_at_hand bytes = {text, len};
    return each(bytes_read_at_hand, &bytes, has_separators(text, len), options, handler, err);
}
