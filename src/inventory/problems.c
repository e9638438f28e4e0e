/* problems: see inventory_priv.h. */
#include "base/log.h"
#include "base/mem.h"
#include "inventory_priv.h"

#include <stdlib.h>

struct problems *problems_new(void)
{
    struct problems *problems = MEM_NEW(struct problems);
    problems->arena = arena_new();
    return problems;
}

void problems_free(struct problems *problems)
{
    if (!problems)
        return;
    arena_free(problems->arena);
    free(problems);
}

void problems_add(struct problems *problems, const char *kind, const char *name, const char *what)
{
    problems->n_all++;
    if (problems->n == PROBLEMS_MAX)
        return;
    problems->items[problems->n++] = (struct inventory_problem){
        .kind = arena_strdup(problems->arena, kind),
        .name = arena_strdup(problems->arena, name),
        .what = arena_strdup(problems->arena, what),
    };
    LOG(LOG_WARN, "inventory", LOG_MSG("object left out"), LOG_STR("kind", kind),
        LOG_STR("name", name), LOG_STR("why", what));
}
