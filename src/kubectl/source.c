/* source: see source.h. */
#include "source.h"

#include <ctype.h>

static void add_encoded(struct buf *out, const char *text)
{
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (isalnum(c) || strchr("-._~", c))
            buf_add(out, text, 1);
        else
            buf_printf(out, "%%%02X", c);
    }
}

const char *source_target(const struct question *question, struct arena *arena)
{
    struct buf target;
    buf_init(&target, BUF_UNBOUNDED); /* arguments of the command line */
    buf_add_text(&target, question->view);
    for (const struct local_parameter *each = question->query; each->name; each++) {
        buf_add_text(&target, each == question->query ? "?" : "&");
        add_encoded(&target, each->name);
        buf_add_text(&target, "=");
        add_encoded(&target, each->value);
    }
    const char *copy = arena_strdup(arena, buf_text(&target));
    buf_fini(&target);
    return copy;
}

int source_ask(const struct arguments *arguments, const struct question *question,
               struct arena *arena, struct reply *ret_reply, struct err *err)
{
    if (arguments->cluster_file)
        return source_ask_file(arguments, question, ret_reply, err);
    if (arguments->url)
        return source_ask_url(arguments, question, arena, ret_reply, err);
    return source_ask_kubectl(arguments, question, arena, ret_reply, err);
}
