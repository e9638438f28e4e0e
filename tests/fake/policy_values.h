/* policy_values: settings as struct api.policy() shows them, without a service that has taken them.
 */
#ifndef POLICY_VALUES_H
#define POLICY_VALUES_H

#include "base/arena.h"
#include "config/settings.h"

/* context: a struct settings. */
static inline char *policy_values(void *context, struct arena *arena)
{
    struct buf out;
    buf_init(&out, BUF_UNBOUNDED);
    buf_add_text(&out, "{\"values\":");
    settings_json(context, &out);
    buf_add_text(&out, "}");
    char *copy = arena_strndup(arena, buf_text(&out), out.len);
    buf_fini(&out);
    return copy;
}

#endif
