/* yaml_source: see yaml_source.h. */
#include "yaml_source.h"
#include "base/mem.h"
#include "encoding.h"
#include "formats/documents.h"
#include "formats/json_stream.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* Feeds bytes to libyaml, and finds their line and column.
 *
 * libyaml decodes before it scans, and reports undecodable bytes by offset only. This keeps the
 * bytes that may be undecoded, so that an offset yields line and column, and no more. It skips a
 * byte order mark at the start. */

/* libyaml compares every %TAG directive with all earlier ones. */
#define TAG_DIRECTIVES_MAX 1000
#define TAG_WORD "%TAG"

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

struct yaml_input {
    bytes_read *read;
    void *context;
    char *tail; /* the last bytes returned, undecoded ones included; NULL at first */
    size_t tail_len;
    size_t tail_size;   /* size of libyaml's buffer */
    size_t tail_offset; /* in the text */
    struct text_position tail_at;
    size_t n_tag_directives;
    size_t n_matched; /* bytes at the start of the line that match TAG_WORD */
    bool in_line;     /* the match failed or is complete */
};

static struct yaml_input *yaml_input_new(bytes_read *read, void *context)
{
    struct yaml_input *input = MEM_NEW(struct yaml_input);
    input->read = read;
    input->context = context;
    input->tail_at = (struct text_position){1, 1};
    return input;
}

static void yaml_input_free(struct yaml_input *input)
{
    if (!input)
        return;
    free(input->tail);
    free(input);
}

/* bytes must be UTF-8. */
static struct text_position advance(struct text_position at, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] == '\n')
            at = (struct text_position){at.line + 1, 1};
        else if (((unsigned char)bytes[i] & 0xc0) != 0x80)
            at.column++;
    }
    return at;
}

/* offset: of a byte that was returned but may be undecoded, or of the end. Columns count
 * characters. */
static struct text_position yaml_input_position(const struct yaml_input *input, size_t offset)
{
    size_t len = offset - input->tail_offset;
    return advance(input->tail_at, input->tail, len < input->tail_len ? len : input->tail_len);
}

/* libyaml requests all its buffer except undecoded bytes. */
static void forget_decoded(struct yaml_input *input, size_t size)
{
    const size_t keep = input->tail_size - size;
    if (keep >= input->tail_len)
        return;
    const size_t n = input->tail_len - keep;
    input->tail_at = advance(input->tail_at, input->tail, n);
    input->tail_offset += n;
    input->tail_len = keep;
    memmove(input->tail, input->tail + n, keep);
}

/* The ends of YAML lines; of multi-byte ones (NEL, LS, PS) the last byte. */
static bool ends_line(char c)
{
    return c == '\n' || c == '\r' || c == '\x85' || c == '\xa8' || c == '\xa9';
}

/* n_behind: bytes of the tail after the word. */
static int refuse_tag_directive(const struct yaml_input *input, size_t n_behind, struct err *err)
{
    struct text_position at =
        yaml_input_position(input, input->tail_offset + input->tail_len - n_behind);
    return err_set(err, EMSGSIZE, "%zu:%zu: more than %d %s directives", at.line,
                   at.column - strlen(TAG_WORD), TAG_DIRECTIVES_MAX, TAG_WORD);
}

/* Examines the bytes that were appended to the tail. */
static int count_tag_directives(struct yaml_input *input, const char *bytes, size_t len,
                                struct err *err)
{
    for (size_t i = 0; i < len; i++) {
        if (ends_line(bytes[i])) {
            input->in_line = false;
            input->n_matched = 0;
        } else if (!input->in_line) {
            input->in_line = bytes[i] != TAG_WORD[input->n_matched++];
            if (input->in_line || input->n_matched < strlen(TAG_WORD))
                continue;
            input->in_line = true;
            if (++input->n_tag_directives > TAG_DIRECTIVES_MAX)
                return refuse_tag_directive(input, len - i - 1, err);
        }
    }
    return 0;
}

/* Reads enough to detect a byte order mark, and removes it. */
static int read_beginning(struct yaml_input *input, char *bytes, size_t size, size_t *ret_n,
                          struct err *err)
{
    size_t n = 0;
    size_t more = 1;
    while (n < strlen(BYTE_ORDER_MARK) && more > 0) {
        int r = input->read(input->context, bytes + n, size - n, &more, err);
        if (r < 0)
            return r;
        n += more;
    }
    if (n >= strlen(BYTE_ORDER_MARK) &&
        memcmp(bytes, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0) {
        n -= strlen(BYTE_ORDER_MARK);
        memmove(bytes, bytes + strlen(BYTE_ORDER_MARK), n);
        if (n == 0)
            return input->read(input->context, bytes, size, ret_n, err);
    }
    *ret_n = n;
    return 0;
}

/* For libyaml's read handler. size must be libyaml's whole buffer in the first call, later the
 * buffer minus undecoded bytes. -EMSGSIZE: too many directives; or the error of read. */
static int yaml_input_read(struct yaml_input *input, char *bytes, size_t size, size_t *ret_n,
                           struct err *err)
{
    size_t n = 0;
    int r = 0;
    if (!input->tail) {
        input->tail = mem_new(size);
        input->tail_size = size;
        r = read_beginning(input, bytes, size, &n, err);
    } else {
        forget_decoded(input, size);
        r = input->read(input->context, bytes, size, &n, err);
    }
    if (r < 0)
        return r;
    memcpy(input->tail + input->tail_len, bytes, n);
    input->tail_len += n;
    r = count_tag_directives(input, bytes, n, err);
    if (r == 0)
        *ret_n = n;
    return r;
}

struct yaml_source {
    yaml_parser_t parser;
    yaml_event_t event;     /* the current one; owns its strings */
    struct buf without_nul; /* its text with NUL replaced */
    struct yaml_input *input;
    int read_error; /* negative errno of a failed read, with its message */
    struct err read_err;
};

static int read_input(void *context, unsigned char *bytes, size_t size, size_t *ret_n)
{
    struct yaml_source *source = context;
    source->read_error =
        yaml_input_read(source->input, (char *)bytes, size, ret_n, &source->read_err);
    return source->read_error == 0;
}

struct yaml_source *yaml_source_new(bytes_read *read, void *context)
{
    struct yaml_source *source = MEM_NEW(struct yaml_source);
    if (!yaml_parser_initialize(&source->parser))
        abort();
    buf_init(&source->without_nul, BUF_UNBOUNDED);
    source->input = yaml_input_new(read, context);
    yaml_parser_set_encoding(&source->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input(&source->parser, read_input, source);
    return source;
}

void yaml_source_free(struct yaml_source *source)
{
    if (!source)
        return;
    yaml_event_delete(&source->event);
    yaml_parser_delete(&source->parser);
    buf_fini(&source->without_nul);
    yaml_input_free(source->input);
    free(source);
}

static struct text_position position_of_mark(yaml_mark_t mark)
{
    return (struct text_position){mark.line + 1, mark.column + 1};
}

/* Reports undecodable bytes. */
static int reader_error(const struct yaml_source *source, struct err *err)
{
    const yaml_parser_t *parser = &source->parser;
    if (source->read_error < 0)
        return err_set(err, -source->read_error, "%s", source->read_err.text);
    struct text_position at = yaml_input_position(source->input, parser->problem_offset);
    if (parser->problem_value < 0)
        return err_set(err, EINVAL, "%zu:%zu: %s", at.line, at.column, parser->problem);
    return err_set(err, EINVAL, "%zu:%zu: %s (0x%02x)", at.line, at.column, parser->problem,
                   (unsigned)parser->problem_value);
}

static int parser_error(const struct yaml_source *source, struct err *err)
{
    const yaml_parser_t *parser = &source->parser;
    if (parser->error == YAML_MEMORY_ERROR)
        abort();
    if (parser->error == YAML_READER_ERROR)
        return reader_error(source, err);
    struct text_position at = position_of_mark(parser->problem_mark);
    if (!parser->context)
        return err_set(err, EINVAL, "%zu:%zu: %s", at.line, at.column, parser->problem);
    struct text_position from = position_of_mark(parser->context_mark);
    return err_set(err, EINVAL, "%zu:%zu: %s (%s that begins at %zu:%zu)", at.line, at.column,
                   parser->problem, parser->context, from.line, from.column);
}

static void set_scalar(const yaml_event_t *event, struct yaml_source_event *out)
{
    out->kind = SOURCE_SCALAR;
    out->text = (const char *)event->data.scalar.value;
    out->len = event->data.scalar.length;
    out->is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    out->anchor = (const char *)event->data.scalar.anchor;
    out->tag = (const char *)event->data.scalar.tag;
}

static void set_sequence(const yaml_event_t *event, struct yaml_source_event *out)
{
    out->kind = SOURCE_SEQUENCE_BEGIN;
    out->anchor = (const char *)event->data.sequence_start.anchor;
    out->tag = (const char *)event->data.sequence_start.tag;
}

static void set_mapping(const yaml_event_t *event, struct yaml_source_event *out)
{
    out->kind = SOURCE_MAPPING_BEGIN;
    out->anchor = (const char *)event->data.mapping_start.anchor;
    out->tag = (const char *)event->data.mapping_start.tag;
}

static void set_event(const yaml_event_t *event, struct yaml_source_event *out)
{
    static const enum yaml_source_kind BARE[] = {
        [YAML_NO_EVENT] = SOURCE_TEXT_END,
        [YAML_STREAM_START_EVENT] = SOURCE_TEXT_BEGIN,
        [YAML_STREAM_END_EVENT] = SOURCE_TEXT_END,
        [YAML_DOCUMENT_START_EVENT] = SOURCE_DOCUMENT_BEGIN,
        [YAML_DOCUMENT_END_EVENT] = SOURCE_DOCUMENT_END,
        [YAML_SEQUENCE_END_EVENT] = SOURCE_SEQUENCE_END,
        [YAML_MAPPING_END_EVENT] = SOURCE_MAPPING_END,
    };
    *out = (struct yaml_source_event){.at = position_of_mark(event->start_mark)};
    if (event->type == YAML_SCALAR_EVENT) {
        set_scalar(event, out);
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        set_sequence(event, out);
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        set_mapping(event, out);
    } else if (event->type == YAML_ALIAS_EVENT) {
        out->kind = SOURCE_ALIAS;
        out->anchor = (const char *)event->data.alias.anchor;
    } else {
        out->kind = BARE[event->type];
    }
}

static void replace_nul(struct yaml_source *source, struct yaml_source_event *event)
{
    buf_clear(&source->without_nul);
    encoding_add_replaced(&source->without_nul, event->text, event->len);
    event->text = buf_text(&source->without_nul);
    event->len = source->without_nul.len;
}

int yaml_source_next(struct yaml_source *source, struct yaml_source_event *ret_event,
                     struct err *err)
{
    yaml_event_delete(&source->event);
    if (!yaml_parser_parse(&source->parser, &source->event))
        return parser_error(source, err);
    struct yaml_source_event event;
    set_event(&source->event, &event);
    if (event.len > 0 && memchr(event.text, '\0', event.len))
        replace_nul(source, &event);
    *ret_event = event;
    return 0;
}

size_t yaml_source_flow_depth(const struct yaml_source *source)
{
    return source->parser.flow_level > 0 ? (size_t)source->parser.flow_level : 0;
}

bool yaml_source_is_broken(const struct yaml_source *source)
{
    return source->parser.error != YAML_NO_ERROR;
}
