/* few: see few.h. */
#include "few.h"

bool few_is_full(const struct few *few)
{
    return few->n >= FEW_SHOWN;
}

void few_add(struct few *few, const char *name, struct arena *arena)
{
    if (!few_is_full(few))
        few->text = arena_printf(arena, "%s%s%s", few->text, few->text[0] ? ", " : "", name);
    few->n++;
}

const char *few_text(const struct few *few, struct arena *arena)
{
    if (few->n <= FEW_SHOWN)
        return few->text;
    return arena_printf(arena, "%s and %zu more", few->text, few->n - FEW_SHOWN);
}
