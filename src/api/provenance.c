/* provenance: see provenance.h. */
#include "api/provenance.h"
#include "api/table.h"
#include "api/text.h"
#include "base/clock.h"

#include <time.h>

struct provenance provenance_of(struct inventory *inventory, struct arena *arena)
{
    struct provenance provenance = {0};
    if (inventory_usable(inventory, &provenance.unusable))
        provenance.unusable.text[0] = '\0';
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    if (inventory_counts_claims(&view, &provenance.claims_uncounted))
        provenance.claims_uncounted.text[0] = '\0';
    provenance.claims_note = view.claims_note;
    provenance.as_of_s = view.as_of_s;
    provenance.source = arena_strdup(arena, view.source);
    provenance.live = view.live;
    return provenance;
}

json_t *provenance_json(const struct provenance *provenance)
{
    char as_of[TEXT_TIME_SIZE];
    return json_pack("{s:s, s:s, s:b, s:b, s:s}", "asOf", text_time(provenance->as_of_s, as_of),
                     "source", provenance->source, "live", provenance->live, "usable",
                     provenance->unusable.text[0] == '\0', "unusableBecause",
                     provenance->unusable.text);
}

void provenance_add_claims(const struct provenance *provenance, json_t *answer)
{
    const char *why = provenance->claims_uncounted.text;
    (void)json_object_set_new(answer, "claimsCounted", json_boolean(why[0] == '\0'));
    (void)json_object_set_new(answer, "claimsNotCountedBecause", json_string(why));
    (void)json_object_set_new(answer, "claimsNote", json_string(provenance->claims_note));
}

static void write_unusable(const json_t *answer, struct arena *arena, struct buf *out)
{
    const char *as_of = text_member(answer, "asOf");
    int64_t as_of_s = 0;
    if (json_is_true(json_object_get(answer, "usable")))
        return;
    table_write_line(
        arena_printf(arena, "NO DECISIONS ARE MADE: %s", text_member(answer, "unusableBecause")), 0,
        TABLE_MORE, out);
    (void)text_time_read(as_of, &as_of_s);
    const int64_t age_s = (int64_t)time(NULL) - as_of_s;
    if (as_of_s > 0)
        buf_printf(out, "The data below is from %s, %s ago.\n", as_of,
                   text_age(age_s > 0 ? age_s : 0, arena));
    buf_add_text(out, "\n");
}

void provenance_write_warning(const json_t *answer, struct arena *arena, struct buf *out)
{
    const char *uncounted = text_member(answer, "claimsNotCountedBecause");
    const char *said = uncounted[0] ? uncounted : text_member(answer, "claimsNote");
    write_unusable(answer, arena, out);
    if (!said[0])
        return;
    table_write_line(said, 0, 0, out);
    buf_add_text(out, "\n");
}
