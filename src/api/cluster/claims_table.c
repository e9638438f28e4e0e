/* claims_table: the claims of an inventory, one line each; see include/api/tables.h. */
#include "api/cluster/claims_table.h"
#include "api/provenance.h"
#include "api/table.h"
#include "api/tables.h"
#include "api/text.h"

const char *claims_table_devices(const json_t *claim, struct arena *arena)
{
    struct name_list shown = {.text = ""};
    size_t i = 0;
    json_t *device = NULL;
    json_array_foreach (json_object_get(claim, "devices"), i, device) {
        const char *name = NULL;
        if (!text_names_are_full(&shown))
            name = arena_printf(arena, "%s/%s", text_member(device, "pool"),
                                text_member(device, "device"));
        text_names_add(&shown, name, arena);
    }
    return text_names(&shown, arena);
}

const char *claims_table_users(const json_t *claim, struct arena *arena)
{
    struct name_list shown = {.text = ""};
    size_t i = 0;
    json_t *user = NULL;
    json_array_foreach (json_object_get(claim, "reservedFor"), i, user) {
        const char *name = text_member(user, "pod");
        text_names_add(&shown, *name ? name : text_member(user, "uid"), arena);
    }
    return text_names(&shown, arena);
}

const char *claims_table_state(const json_t *claim)
{
    if (json_is_true(json_object_get(claim, "terminating")))
        return "terminating";
    return json_is_true(json_object_get(claim, "unused")) ? "unused" : "in use";
}

void tables_write_claims(const json_t *answer, bool wide, struct arena *arena, struct buf *out)
{
    static const char *const HEADINGS[] = {"NAMESPACE",
                                           "CLAIM",
                                           (TABLE_MAY_GO_LAST "STATE"),
                                           (TABLE_MAY_GO_LAST "NODE"),
                                           (TABLE_MAY_GO_LAST "MODEL"),
                                           "PODS",
                                           (TABLE_MAY_GO_LAST "DEVICES"),
                                           NULL};
    const json_t *claims = json_object_get(answer, "claims");
    const json_int_t n_omitted = json_integer_value(json_object_get(answer, "claimsOmitted"));
    struct table *table = table_new(arena, wide, HEADINGS);
    size_t i = 0;
    json_t *claim = NULL;
    provenance_write_warning(answer, arena, out);
    text_write_warnings(answer, arena, out);
    json_array_foreach (claims, i, claim) {
        const json_t *first = json_array_get(json_object_get(claim, "devices"), 0);
        const char *const cells[] = {
            text_member(claim, "namespace"),   text_member(claim, "name"),
            claims_table_state(claim),         text_member(claim, "node"),
            text_member(first, "model"),       claims_table_users(claim, arena),
            claims_table_devices(claim, arena)};
        table_add(table, cells);
    }
    if (json_array_size(claims) > 0)
        table_write(table, out);
    if (n_omitted > 0)
        buf_printf(out, "%lld more claims are left out\n", (long long)n_omitted);
}
