/* groups: see include/record/groups.h. */
#include "record/groups.h"
#include "base/mem.h"
#include "base/mutex.h"

#include <stdlib.h>
#include <string.h>

struct groups {
    struct mutex lock; /* guards the rest; innermost */
    struct arena *arena;
    struct waiting_group *rows;
    size_t n;
    uint64_t edition;
};

struct groups *groups_new(void)
{
    struct groups *groups = MEM_NEW(struct groups);
    mutex_init(&groups->lock);
    groups->arena = arena_new();
    return groups;
}

void groups_free(struct groups *groups)
{
    if (!groups)
        return;
    arena_free(groups->arena);
    mutex_fini(&groups->lock);
    free(groups);
}

static int compare(const void *a, const void *b)
{
    const struct waiting_group *left = a;
    const struct waiting_group *right = b;
    const int order = strcmp(left->namespace_, right->namespace_);
    return order != 0 ? order : strcmp(left->name, right->name);
}

static struct waiting_group *copy(const struct waiting_group *rows, size_t n, struct arena *arena)
{
    struct waiting_group *copies = ARENA_ARRAY(arena, struct waiting_group, n + 1);
    for (size_t i = 0; i < n; i++) {
        copies[i] = rows[i];
        copies[i].namespace_ = arena_strdup(arena, rows[i].namespace_);
        copies[i].name = arena_strdup(arena, rows[i].name);
        copies[i].lacks = arena_strdup(arena, rows[i].lacks);
        copies[i].nodes = arena_strdup(arena, rows[i].nodes);
        copies[i].missed = arena_strdup(arena, rows[i].missed);
    }
    return copies;
}

void groups_set(struct groups *groups, const struct waiting_group *rows, size_t n)
{
    struct arena *arena = arena_new();
    struct waiting_group *copies = copy(rows, n, arena);
    qsort(copies, n, sizeof *copies, compare);
    mutex_lock(&groups->lock);
    struct arena *before = groups->arena;
    groups->edition += groups->n > 0 || n > 0;
    groups->arena = arena;
    groups->rows = copies;
    groups->n = n;
    mutex_unlock(&groups->lock);
    arena_free(before);
}

size_t groups_list(struct groups *groups, const char *namespace_, struct arena *arena,
                   struct waiting_group **ret_rows)
{
    size_t n = 0;
    mutex_lock(&groups->lock);
    struct waiting_group *rows = copy(groups->rows, groups->n, arena);
    const size_t n_all = groups->n;
    mutex_unlock(&groups->lock);
    for (size_t i = 0; i < n_all; i++) {
        if (!namespace_ || strcmp(rows[i].namespace_, namespace_) == 0)
            rows[n++] = rows[i];
    }
    *ret_rows = rows;
    return n;
}

uint64_t groups_edition(struct groups *groups)
{
    mutex_lock(&groups->lock);
    const uint64_t edition = groups->edition;
    mutex_unlock(&groups->lock);
    return edition;
}
