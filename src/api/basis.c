/* basis: see basis.h. */
#include "basis.h"
#include "age_text.h"
#include "base/text_time.h"
#include "json_text.h"

#include <time.h>

struct basis basis_of(struct inventory *inventory, struct arena *arena)
{
    struct basis basis = {0};
    if (inventory_usable(inventory, &basis.unusable))
        basis.unusable.text[0] = '\0';
    const struct inventory_view view = inventory_read(inventory);
    basis.as_of_s = view.as_of_s;
    basis.source = arena_strdup(arena, view.source);
    basis.live = view.live;
    inventory_done(inventory);
    return basis;
}

json_t *basis_json(const struct basis *basis)
{
    char as_of[TEXT_TIME_SIZE];
    return json_pack("{s:s, s:s, s:b, s:b, s:s}", "asOf", text_time(basis->as_of_s, as_of),
                     "source", basis->source, "live", basis->live, "usable",
                     basis->unusable.text[0] == '\0', "unusableBecause", basis->unusable.text);
}

void basis_write_warning(const json_t *answer, struct arena *arena, struct buf *out)
{
    const char *as_of = json_text_of(answer, "asOf");
    int64_t as_of_s = 0;
    if (json_is_true(json_object_get(answer, "usable")))
        return;
    (void)buf_printf(out, "NO DECISIONS ARE MADE: %s\n", json_text_of(answer, "unusableBecause"));
    (void)text_time_read(as_of, &as_of_s);
    const int64_t age_s = (int64_t)time(NULL) - as_of_s;
    if (as_of_s > 0)
        (void)buf_printf(out, "What follows is as it was at %s, %s ago.\n", as_of,
                         age_text(age_s > 0 ? age_s : 0, arena));
    (void)buf_add_text(out, "\n");
}
