/* yaml_anchors: see yaml_anchors.h. */
#include "yaml_anchors.h"

#include "base/arena.h"
#include "base/mem.h"
#include "base/table.h"

#include <errno.h>
#include <stdlib.h>

/* Per text. Bounded, because an attacker can choose names with equal hashes. */
#define ANCHORS_MAX 10000

struct anchor {
    UT_hash_handle hh;
    char *name;
    const char *why_not; /* NULL: the target may be used */
    struct anchor_target target;
};

struct yaml_anchors {
    struct arena *arena; /* holds the anchors, replaced ones included */
    struct anchor *by_name;
    json_t *kept;
    unsigned count; /* in all documents */
};

struct yaml_anchors *yaml_anchors_new(void)
{
    struct yaml_anchors *anchors = MEM_NEW(struct yaml_anchors);
    anchors->arena = arena_new();
    anchors->kept = json_array();
    return anchors;
}

void yaml_anchors_free(struct yaml_anchors *anchors)
{
    if (!anchors)
        return;
    HASH_CLEAR(hh, anchors->by_name);
    arena_free(anchors->arena);
    json_decref(anchors->kept);
    free(anchors);
}

void yaml_anchors_clear(struct yaml_anchors *anchors)
{
    HASH_CLEAR(hh, anchors->by_name);
    arena_free(anchors->arena);
    anchors->arena = arena_new();
    (void)json_array_clear(anchors->kept);
}

int yaml_anchors_open(struct yaml_anchors *anchors, const char *name, const char *why_not,
                      struct text_position at, struct anchor **ret_anchor, struct err *err)
{
    if (anchors->count == ANCHORS_MAX)
        return err_set(err, EMSGSIZE, "%zu:%zu: more than %d anchors", at.line, at.column,
                       ANCHORS_MAX);
    anchors->count++;
    struct anchor *old = NULL;
    struct anchor *anchor = ARENA_NEW(anchors->arena, struct anchor);
    anchor->name = arena_strdup(anchors->arena, name);
    anchor->why_not = why_not;
    HASH_REPLACE(hh, anchors->by_name, name[0], strlen(anchor->name), anchor, old);
    (void)old;
    *ret_anchor = anchor;
    return 0;
}

void yaml_anchors_close(struct yaml_anchors *anchors, struct anchor *anchor,
                        struct anchor_target target)
{
    yaml_anchors_keep(anchors, json_incref(target.value));
    anchor->target = target;
    anchor->why_not = NULL;
}

void yaml_anchors_keep(struct yaml_anchors *anchors, json_t *value)
{
    if (json_array_append_new(anchors->kept, value) < 0)
        abort();
}

int yaml_anchors_find(const struct yaml_anchors *anchors, const char *name, struct text_position at,
                      struct anchor_target *ret_target, struct err *err)
{
    struct anchor *anchor = NULL;
    HASH_FIND_STR(anchors->by_name, name, anchor);
    if (!anchor)
        return err_set(err, EINVAL, "%zu:%zu: no anchor &%.100s before this alias", at.line,
                       at.column, name);
    if (anchor->why_not)
        return err_set(err, EINVAL, "%zu:%zu: the alias *%.100s cannot be used: its anchor %s",
                       at.line, at.column, name, anchor->why_not);
    *ret_target = anchor->target;
    return 0;
}
