/* yaml_source: see yaml_source.h. */
#include "yaml_source.h"

#include "base/mem.h"
#include "nul.h"
#include "yaml_input.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

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
    nul_add_replaced(&source->without_nul, event->text, event->len);
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
