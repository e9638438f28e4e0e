/*
 * Reads any text as a stream of JSON objects. The size of the pieces changes nothing, and the
 * stream accepts what jansson alone accepts. The last byte is the size of the pieces.
 */
#include "../../src/formats/encoding.h"
#include "../unit/formats/seen.h"
#include "require.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 100

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct outcome {
    struct seen seen;
    struct err err;
    int r;
};

static int feed(struct json_stream *stream, const char *text, size_t len, size_t step,
                struct err *err)
{
    int r = 0;
    for (size_t at = 0; r == 0 && at < len; at += step) {
        size_t n = step < len - at ? step : len - at;
        char *piece = malloc(n);
        require(piece != NULL);
        memcpy(piece, text + at, n);
        r = json_stream_feed(stream, piece, n, err);
        free(piece);
    }
    return r < 0 ? r : json_stream_end(stream, err);
}

static void run(struct outcome *out, const struct json_stream_options *options, const char *text,
                size_t len, size_t step)
{
    struct json_stream_handler handler = seen_handler(&out->seen, 0);
    handler.on_large_item = seen_large_item;
    handler.on_large_envelope = seen_large_envelope;
    struct json_stream *stream = json_stream_new(options, &handler);
    out->err.text[0] = '\0';
    out->r = feed(stream, text, len, step, &out->err);
    json_stream_free(stream);
}

static void check_cuts(const struct json_stream_options *options, const char *text, size_t len,
                       size_t step)
{
    struct outcome whole;
    struct outcome cut;
    run(&whole, options, text, len, len ? len : 1);
    run(&cut, options, text, len, step);
    require(whole.r == cut.r);
    require(strcmp(whole.err.text, cut.err.text) == 0);
    require(strcmp(buf_text(&whole.seen.text), buf_text(&cut.seen.text)) == 0);
    buf_fini(&whole.seen.text);
    buf_fini(&cut.seen.text);
}

static int all_objects_without_nul(const char *text, size_t len)
{
    static const char BLANKS[] = {' ', '\t', '\r', '\n'};
    size_t n = 0;
    for (;; n++) {
        size_t blank = 0;
        while (blank < len && memchr(BLANKS, text[blank], sizeof BLANKS))
            blank++;
        text += blank;
        len -= blank;
        if (len == 0)
            return n > 0;
        json_error_t error;
        json_t *value = json_loadb(text, len, JSON_DISABLE_EOF_CHECK, &error);
        int is_object = json_is_object(value);
        json_decref(value);
        if (!is_object)
            return 0;
        text += error.position;
        len -= (size_t)error.position;
    }
}

static int all_objects(const char *text, size_t len)
{
    char *copy = malloc(len ? len : 1);
    require(copy != NULL);
    if (len > 0)
        memcpy(copy, text, len);
    encoding_replace_nuls(copy, len);
    int all = all_objects_without_nul(copy, len);
    free(copy);
    return all;
}

/* Duplicate "items" and depth are rules of the stream alone. */
static void check_against_jansson(const char *text, size_t len)
{
    const struct json_stream_options options = {.max_object_bytes = 1 << 20,
                                                .max_depth = MAX_DEPTH};
    struct outcome out;
    run(&out, &options, text, len, len ? len : 1);
    if (!strstr(out.err.text, "nested deeper") && !strstr(out.err.text, "is here twice") &&
        out.r != -ENOBUFS)
        require((out.r == 0) == all_objects(text, len));
    buf_fini(&out.seen.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const DROP[] = {"a.b",         "a.c.d",  "a.x.y", "a.l[].b",
                                       "a.l[].m[].b", "status", NULL};
    const struct json_stream_options small = {
        .drop = DROP, .max_object_bytes = 60, .max_depth = 8, .json_flags = JSON_REJECT_DUPLICATES};
    const struct json_stream_options large = {
        .drop = DROP, .max_object_bytes = 1 << 20, .max_depth = MAX_DEPTH};
    const char *text = (const char *)data;
    size_t step = size > 0 ? data[size - 1] % 31 + 1U : 1;
    check_cuts(&small, text, size, step);
    check_cuts(&large, text, size, step);
    check_cuts(&large, text, size, 1);
    check_against_jansson(text, size);
    return 0;
}
