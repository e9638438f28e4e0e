/* yaml_source: see yaml_source.h. */
#include "yaml_source.h"

#include "base/mem.h"
#include "nul.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* libyaml compares every %TAG directive with all before it. */
#define TAG_DIRECTIVES_MAX 1000

struct yaml_source {
    yaml_parser_t parser;
    yaml_event_t event;     /* the one told last, which owns its strings */
    struct buf without_nul; /* its text, where it had one */
    const char *text;
    size_t len;
};

struct yaml_source *yaml_source_new(const char *text, size_t len)
{
    struct yaml_source *source = MEM_NEW(struct yaml_source);
    if (!yaml_parser_initialize(&source->parser))
        abort();
    buf_init(&source->without_nul, SIZE_MAX / 2);
    source->text = text;
    source->len = len;
    yaml_parser_set_encoding(&source->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&source->parser, (const unsigned char *)text, len);
    return source;
}

void yaml_source_free(struct yaml_source *source)
{
    if (!source)
        return;
    yaml_event_delete(&source->event);
    yaml_parser_delete(&source->parser);
    buf_fini(&source->without_nul);
    free(source);
}

static struct text_position position_of_mark(yaml_mark_t mark)
{
    return (struct text_position){mark.line + 1, mark.column + 1};
}

/* Bytes that libyaml's reader refuses come with their offset only. All before it is UTF-8. */
static struct text_position position_of_offset(const struct yaml_source *source, size_t offset)
{
    struct text_position at = {1, 1};
    for (size_t i = 0; i < offset && i < source->len; i++) {
        if (source->text[i] == '\n')
            at = (struct text_position){at.line + 1, 1};
        else if (((unsigned char)source->text[i] & 0xc0) != 0x80)
            at.column++;
    }
    return at;
}

static int reader_error(const struct yaml_source *source, struct err *err)
{
    const yaml_parser_t *parser = &source->parser;
    struct text_position at = position_of_offset(source, parser->problem_offset);
    if (parser->problem_value < 0)
        return err_set(err, EINVAL, "%zu:%zu: %s", at.line, at.column, parser->problem);
    return err_set(err, EINVAL, "%zu:%zu: %s (0x%02x)", at.line, at.column, parser->problem,
                   (unsigned)parser->problem_value);
}

/* Wherever the word stands: nobody writes it so often. */
static int refuse_many_tag_directives(const struct yaml_source *source, struct err *err)
{
    static const char WORD[] = "%TAG";
    const char *p = source->text;
    const char *end = source->text + source->len;
    size_t n = 0;
    while (p < end && (p = memmem(p, (size_t)(end - p), WORD, sizeof WORD - 1)) != NULL) {
        if (++n > TAG_DIRECTIVES_MAX) {
            struct text_position at = position_of_offset(source, (size_t)(p - source->text));
            return err_set(err, EMSGSIZE, "%zu:%zu: more than %d %s directives", at.line, at.column,
                           TAG_DIRECTIVES_MAX, WORD);
        }
        p += sizeof WORD - 1;
    }
    return 0;
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
    if (event.kind == SOURCE_TEXT_BEGIN) {
        int r = refuse_many_tag_directives(source, err);
        if (r < 0)
            return r;
    }
    if (event.len > 0 && memchr(event.text, '\0', event.len))
        replace_nul(source, &event);
    *ret_event = event;
    return 0;
}
