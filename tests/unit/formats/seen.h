/* seen: a handler that records its calls. */
#ifndef SEEN_H
#define SEEN_H

#include "base/buf.h"
#include "formats/json_stream.h"

#include <stdlib.h>

/* "item 1:2 {...}" lines. */
struct seen {
    struct buf text;
    int answer; /* returned for every item */
};

static inline int seen_add(struct seen *seen, const char *what, const json_t *value,
                           struct text_position at)
{
    char *json = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    buf_printf(&seen->text, "%s %zu:%zu %s\n", what, at.line, at.column, json);
    free(json);
    return 0;
}

static inline int seen_item(void *context, json_t *item, struct text_position at, struct err *err)
{
    struct seen *seen = context;
    if (seen->answer < 0)
        return err_set(err, -seen->answer, "enough");
    return seen_add(seen, "item", item, at);
}

static inline int seen_envelope(void *context, json_t *envelope, struct text_position at,
                                struct err *err)
{
    (void)err;
    return seen_add(context, "envelope", envelope, at);
}

static inline bool seen_large(struct seen *seen, const char *what, const json_t *part)
{
    char *json = json_dumps(part, JSON_COMPACT);
    buf_printf(&seen->text, "large %s %s\n", what, json);
    free(json);
    return true;
}

static inline bool seen_large_item(void *context, const json_t *part, const struct json_over *over)
{
    (void)over;
    return seen_large(context, "item", part);
}

static inline bool seen_large_envelope(void *context, const json_t *part,
                                       const struct json_over *over)
{
    (void)over;
    return seen_large(context, "envelope", part);
}

/* Starts a new record; the caller ends with buf_fini(&seen->text). */
static inline struct json_stream_handler seen_handler(struct seen *seen, int answer)
{
    buf_init(&seen->text, 100000);
    seen->answer = answer;
    return (struct json_stream_handler){
        .on_item = seen_item, .on_envelope = seen_envelope, .context = seen};
}

#endif
