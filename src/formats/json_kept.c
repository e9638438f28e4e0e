/* json_kept: see json_kept.h. */
#include "json_kept.h"

#include "base/buf.h"

#include <stdbool.h>

/* The brackets that close all open containers, innermost last. */
static void find_open(const char *text, size_t len, struct buf *closers)
{
    bool in_string = false;
    for (size_t i = 0; i < len; i++) {
        const char c = text[i];
        if (in_string && c == '\\')
            i++;
        else if (c == '"')
            in_string = !in_string;
        else if (in_string)
            continue;
        else if (c == '{' || c == '[')
            buf_add(closers, c == '{' ? "}" : "]", 1);
        else if (c == '}' || c == ']')
            closers->len--;
    }
}

struct whole_reading {
    json_t *object;
    struct err over;
};

static int take(void *context, json_t *object, struct text_position at, struct err *err)
{
    struct whole_reading *reading = context;
    if (reading->object)
        return err_set(err, EINVAL, "%zu:%zu: a second object begins here", at.line, at.column);
    reading->object = json_incref(object);
    return 0;
}

static bool take_over(void *context, const json_t *part, const struct json_over *over)
{
    struct whole_reading *reading = context;
    if (reading->object)
        return false;
    reading->object = json_deep_copy(part);
    return err_set(&reading->over, EMSGSIZE, "%s", over->why) < 0;
}

int json_stream_read(const char *text, size_t len, const struct json_stream_options *options,
                     json_t **ret_value, struct err *err)
{
    struct whole_reading reading = {.object = NULL};
    const struct json_stream_handler handler = {
        .on_envelope = take, .on_large_envelope = take_over, .context = &reading};
    struct json_stream *stream = json_stream_new(options, &handler);
    int r = json_stream_feed(stream, text, len, err);
    if (r == 0)
        r = json_stream_end(stream, err);
    if (r == -ECANCELED && reading.object)
        r = 0;
    json_stream_free(stream);
    if (r < 0) {
        json_decref(reading.object);
        return r;
    }
    *ret_value = reading.object;
    return reading.over.text[0] ? err_set(err, EMSGSIZE, "%s", reading.over.text) : 0;
}

json_t *json_kept_read(const struct json_kept *kept, const char *text, size_t len)
{
    static const char *const NONE[] = {"", NULL};
    json_t *object = NULL;
    const struct json_stream_options options = {
        .only = kept->only ? kept->only : NONE,
        .object_budget = kept->budget,
        .max_object_bytes = kept->options->max_object_bytes,
        .max_depth = kept->options->max_depth,
        .json_flags = kept->options->json_flags,
    };
    if (json_stream_read(text, len, &options, &object, NULL) == 0)
        return object;
    json_decref(object);
    return NULL;
}

json_t *json_kept_read_part(const struct json_kept *kept, const char *text, size_t len)
{
    struct buf whole;
    struct buf closers;
    buf_init(&closers, len);
    find_open(text, len, &closers);
    buf_init(&whole, len + closers.len);
    buf_add(&whole, text, len);
    while (closers.len > 0)
        buf_add(&whole, &closers.data[--closers.len], 1);
    json_t *part = json_kept_read(kept, buf_text(&whole), whole.len);
    buf_fini(&whole);
    buf_fini(&closers);
    return part;
}
