/* pod_claims: see pod_claims.h. */
#include "pod_claims.h"
#include "base/buf.h"
#include "formats/json_get.h"
#include "meta.h"
#include "quoted.h"
#include "types/facts.h"

#include <string.h>

/* Returns "" for an unusable name. So each name is a line, and no claim looks like a template. */
static const char *usable(const char *name)
{
    return name && strlen(name) <= META_NAME_BYTES_MAX && !strpbrk(name, "/\n") ? name : "";
}

/* As a line of pod_facts.claims. */
static const char *line_of_template(const char *template, struct arena *arena)
{
    const char *name = usable(template);
    return name[0] ? arena_printf(arena, "/%s", name) : "";
}

/* NULL: the pod needs no such claim. unmade: if the claim is not made yet. */
static const char *name_by_status(const json_t *status, const char *entry, const char *unmade)
{
    size_t i = 0;
    json_t *made = NULL;
    json_array_foreach (json_member(status, "resourceClaimStatuses"), i, made) {
        const char *of = json_string_value(json_member(made, "name"));
        if (!of || strcmp(of, entry) != 0)
            continue;
        const char *name = json_string_value(json_member(made, "resourceClaimName"));
        return name ? usable(name) : NULL;
    }
    return unmade;
}

/* A member of the entry; before Kubernetes 1.31 it is inside "source". */
static const char *member_of(const json_t *entry, const char *key)
{
    const json_t *outer = json_member(entry, key);
    return json_string_value(outer ? outer : json_member(json_member(entry, "source"), key));
}

/* ret_is_made: the claim was made from a template. */
static const char *name_of(const json_t *entry, const json_t *status, struct arena *arena,
                           bool *ret_is_made)
{
    const char *name = member_of(entry, "resourceClaimName");
    const char *template = member_of(entry, "resourceClaimTemplateName");
    const char *as = json_string_value(json_member(entry, "name"));
    if (name)
        return usable(name);
    if (!template)
        return NULL;
    name = name_by_status(status, as ? as : "", line_of_template(template, arena));
    *ret_is_made = name && name[0] && name[0] != '/';
    return name;
}

/* Templates may be repeated. Returns how many lines there are if it is none of them. */
static size_t find_line(const char *lines, const char *line)
{
    const size_t len = strlen(line);
    size_t n = 0;
    for (const char *at = lines; *at; at += strcspn(at, "\n") + 1, n++) {
        if (line[0] != '/' && strcspn(at, "\n") == len && strncmp(at, line, len) == 0)
            break;
    }
    return n;
}

const char *pod_claims_read(const json_t *spec, const json_t *status, struct arena *arena,
                            uint32_t *ret_made)
{
    const json_t *list = json_member(spec, "resourceClaims");
    struct buf lines;
    size_t n = 0;
    uint32_t made = 0;
    _Static_assert(POD_CLAIMS_MAX <= 32, "a bit for each line");
    buf_init(&lines, BUF_UNBOUNDED);
    for (size_t i = 0; i < json_array_size(list) && i < POD_CLAIMS_MAX; i++) {
        bool is_made = false;
        const char *name = name_of(json_array_get(list, i), status, arena, &is_made);
        if (!name)
            continue;
        const size_t line = find_line(buf_text(&lines), name);
        made |= is_made ? UINT32_C(1) << line : 0;
        if (line < n)
            continue;
        n++;
        buf_add_text(&lines, name);
        buf_add_text(&lines, "\n");
    }
    *ret_made = made;
    const char *text = buf_text(&lines);
    const char *names = text[0] ? arena_strdup(arena, text) : NULL;
    buf_fini(&lines);
    return names;
}

const char *pod_claims_fault(const json_t *spec, struct arena *arena)
{
    const json_t *list = json_member(spec, "resourceClaims");
    const size_t n =
        json_array_size(list) < POD_CLAIMS_MAX ? json_array_size(list) : POD_CLAIMS_MAX;
    for (size_t i = 0; i < n; i++) {
        const char *name = json_string_value(json_member(json_array_get(list, i), "name"));
        for (size_t j = 0; name && j < i; j++) {
            const char *other = json_string_value(json_member(json_array_get(list, j), "name"));
            if (other && strcmp(name, other) == 0)
                return arena_printf(arena, "spec.resourceClaims[%zu].name: is %s, as that of [%zu]",
                                    i, quoted(arena, name), j);
        }
    }
    return NULL;
}

bool pod_claims_are_many(const json_t *spec)
{
    return json_array_size(json_member(spec, "resourceClaims")) > POD_CLAIMS_MAX;
}
