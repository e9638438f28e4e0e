/* yaml_tags: see yaml_tags.h. */
#include "yaml_tags.h"

#include "yaml_scalar.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STANDARD "tag:yaml.org,2002:"

static int tag_error(const struct yaml_source_event *event, const char *what, struct err *err)
{
    size_t prefix = sizeof STANDARD - 1;
    bool is_standard = strncmp(event->tag, STANDARD, prefix) == 0;
    return err_set(err, EINVAL, "%zu:%zu: the tag %s%.100s %s", event->at.line, event->at.column,
                   is_standard ? "!!" : "", is_standard ? event->tag + prefix : event->tag, what);
}

int yaml_tags_check(const struct yaml_source_event *event, struct err *err)
{
    const char *own = event->kind == SOURCE_MAPPING_BEGIN ? STANDARD "map" : STANDARD "seq";
    if (!event->tag || strcmp(event->tag, "!") == 0 || strcmp(event->tag, own) == 0)
        return 0;
    return tag_error(event, "is not supported", err);
}

static int resolve(const struct yaml_source_event *event, struct yaml_scalar *ret_scalar,
                   struct err *err)
{
    static const struct {
        const char *tag;
        unsigned kinds; /* bits 1 << enum scalar_kind */
    } TAGS[] = {
        {STANDARD "int", 1U << SCALAR_INTEGER},
        {STANDARD "bool", 1U << SCALAR_TRUE | 1U << SCALAR_FALSE},
        {STANDARD "null", 1U << SCALAR_NULL},
        {STANDARD "float", 1U << SCALAR_INTEGER | 1U << SCALAR_REAL | 1U << SCALAR_NOT_FINITE},
        {STANDARD "str", 0}, /* text, whatever it looks like */
        {"!", 0},
    };
    struct yaml_scalar scalar = yaml_scalar_resolve(event->text, event->len);
    for (size_t i = 0; i < sizeof TAGS / sizeof TAGS[0]; i++) {
        if (strcmp(event->tag, TAGS[i].tag) != 0)
            continue;
        if (TAGS[i].kinds == 0)
            scalar.kind = SCALAR_TEXT;
        else if (!(TAGS[i].kinds & 1U << scalar.kind))
            return tag_error(event, "does not fit this value", err);
        *ret_scalar = scalar;
        return 0;
    }
    return tag_error(event, "is not supported", err);
}

/* Go writes a number without fraction as a whole one, and kubectl sends it as such if it fits. */
static json_t *value_of_real(double real)
{
    const bool is_whole = fabs(real) < 0x1p63 && real == (double)(json_int_t)real;
    return is_whole ? json_integer((json_int_t)real) : json_real(real);
}

static json_t *value_of(const struct yaml_source_event *event, struct yaml_scalar scalar)
{
    switch (scalar.kind) {
    case SCALAR_NULL:
        return json_null();
    case SCALAR_TRUE:
        return json_true();
    case SCALAR_FALSE:
        return json_false();
    case SCALAR_INTEGER:
        return json_integer(scalar.integer);
    case SCALAR_REAL:
        return value_of_real(scalar.real);
    case SCALAR_NOT_FINITE:
    case SCALAR_TEXT:
        break;
    }
    return json_stringn(event->text, event->len);
}

int yaml_tags_scalar(const struct yaml_source_event *event, json_t **ret_value, struct err *err)
{
    struct yaml_scalar scalar = {.kind = SCALAR_TEXT};
    int r = 0;
    if (event->tag)
        r = resolve(event, &scalar, err);
    else if (event->is_plain)
        scalar = yaml_scalar_resolve(event->text, event->len);
    if (r == 0 && scalar.kind == SCALAR_NOT_FINITE)
        r = err_set(err, EINVAL, "%zu:%zu: %s is no number in JSON: write it in quotes",
                    event->at.line, event->at.column, event->text);
    if (r < 0)
        return r;
    json_t *value = value_of(event, scalar);
    if (!value) /* libyaml passes valid UTF-8 only */
        abort();
    *ret_value = value;
    return 0;
}
