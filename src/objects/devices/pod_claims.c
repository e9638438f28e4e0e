/* pod_claims: see pod_claims.h. */
#include "objects/devices/pod_claims.h"

#include "base/buf.h"
#include "formats/json_values.h"
#include "objects/claim_spec.h"
#include "objects/claims.h"
#include "objects/fields.h"
#include "types/facts.h"

#include <string.h>
#include <strings.h>

/* ---- pod claims ---- */

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

/* A line of pod_facts.claims. */
struct claim_line {
    const char *name;     /* NULL: there is none */
    const char *template; /* the same, or of a claim that was made from a template, the template */
};

static struct claim_line line_of(const json_t *entry, const json_t *status, struct arena *arena)
{
    const char *name = member_of(entry, "resourceClaimName");
    const char *template = member_of(entry, "resourceClaimTemplateName");
    const char *as = json_string_value(json_member(entry, "name"));
    if (name)
        return (struct claim_line){usable(name), usable(name)};
    if (!template)
        return (struct claim_line){NULL, NULL};
    template = line_of_template(template, arena);
    name = name_by_status(status, as ? as : "", template);
    return (struct claim_line){name, name && name[0] ? template : name};
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

static void add_line(struct buf *lines, const char *line)
{
    buf_add_text(lines, line);
    buf_add_text(lines, "\n");
}

/* NULL: there are no lines. */
static const char *end_lines(struct buf *lines, struct arena *arena)
{
    const char *text = buf_text(lines);
    const char *copy = text[0] ? arena_strdup(arena, text) : NULL;
    buf_fini(lines);
    return copy;
}

const char *pod_claims_read(const json_t *spec, const json_t *status, struct arena *arena,
                            uint32_t *ret_made, const char **ret_templates)
{
    const json_t *list = json_member(spec, "resourceClaims");
    struct buf lines, templates;
    size_t n = 0;
    uint32_t made = 0;
    _Static_assert(POD_CLAIMS_MAX <= 32, "a bit for each line");
    buf_init(&lines, BUF_UNBOUNDED);
    buf_init(&templates, BUF_UNBOUNDED);
    for (size_t i = 0; i < json_array_size(list) && i < POD_CLAIMS_MAX; i++) {
        const struct claim_line own = line_of(json_array_get(list, i), status, arena);
        if (!own.name)
            continue;
        const size_t line = find_line(buf_text(&lines), own.name);
        made |= own.name != own.template ? UINT32_C(1) << line : 0;
        if (line < n)
            continue;
        n++;
        add_line(&lines, own.name);
        add_line(&templates, own.template);
    }
    *ret_made = made;
    *ret_templates = end_lines(&templates, arena);
    return end_lines(&lines, arena);
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

/* ---- given claims ---- */

static int append(const struct claim_template_facts *facts, struct given_list *list,
                  struct arena *arena, struct err *err)
{
    for (size_t i = 0; i < list->n; i++) {
        if (strcmp(list->items[i].name, facts->name) == 0 &&
            strcmp(list->items[i].namespace_, facts->namespace_) == 0)
            return err_set(err, EINVAL,
                           "the manifest has one of this name before: its spec cannot be changed, "
                           "so that one counts");
    }
    if (list->n == GIVEN_CLAIMS_MAX)
        return err_set(err, EINVAL, "is beyond the first %zu of its kind", GIVEN_CLAIMS_MAX);
    if (!list->items)
        list->items = ARENA_ARRAY(arena, struct claim_template_facts, GIVEN_CLAIMS_MAX);
    list->items[list->n++] = *facts;
    return 0;
}

static int add_template(const json_t *object, struct arena *arena, struct given_claims *given,
                        struct err *err)
{
    struct claim_template_facts facts = {0};
    const int r = claim_template_from_json(object, arena, &facts, err);
    return r < 0 ? r : append(&facts, &given->templates, arena, err);
}

/* A manifest does not tell what is allocated. */
static int add_claim(const json_t *object, struct arena *arena, struct given_claims *given,
                     struct err *err)
{
    struct claim_facts claim = {0};
    const int r = resource_claim_from_json(object, arena, &claim, err);
    const struct claim_template_facts facts = {claim.namespace_, claim.name, claim.wants,
                                               claim.n_wants,
                                               claim_spec_text(json_member(object, "spec"), arena)};
    return r < 0 ? r : append(&facts, &given->claims, arena, err);
}

/* Names what the pods then wait for. */
static void add_fault(const json_t *object, bool is_template, const char *why, struct arena *arena,
                      struct given_claims *given)
{
    const json_t *metadata = json_member(object, "metadata");
    const char *namespace_ = json_string_value(json_member(metadata, "namespace"));
    if (given->n_faults == GIVEN_CLAIMS_MAX)
        return;
    if (!given->faults)
        given->faults = ARENA_ARRAY(arena, struct given_fault, GIVEN_CLAIMS_MAX);
    given->faults[given->n_faults++] =
        (struct given_fault){is_template, arena_strdup(arena, namespace_ ? namespace_ : "default"),
                             arena_strdup(arena, json_string_value(json_member(metadata, "name"))),
                             arena_strdup(arena, why)};
}

int given_claims_add(const struct given_object *object, struct arena *arena,
                     struct given_claims *given, struct err *err)
{
    const json_t *json = object->json;
    const bool is_template = strcasecmp(object->kind, "ResourceClaimTemplate") == 0;
    int r = 0;
    if (!is_template && strcasecmp(object->kind, "ResourceClaim") != 0)
        return 0;
    if (!json_is_string(json_member(json_member(json, "metadata"), "name")))
        return 0;
    if (object->refusal)
        r = err_set(err, EINVAL, "%s", object->refusal);
    else if (is_template)
        r = add_template(json, arena, given, err);
    else
        r = add_claim(json, arena, given, err);
    if (r < 0)
        add_fault(json, is_template, err->text, arena, given);
    return r < 0 ? r : 1;
}

/* ---- devices ---- */

static int add_slice(const json_t *object, const struct policy *policy, struct arena *arena,
                     struct given_devices *given, struct err *err)
{
    struct slice_facts facts = {0};
    const int r = resource_slice_from_json(object, policy, arena, &facts, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < given->n_slices; i++) {
        if (strcmp(given->slices[i].name, facts.name) == 0)
            return err_set(err, EINVAL, "the manifest has one of this name before, which counts");
    }
    if (given->n_slices == GIVEN_DEVICES_MAX)
        return err_set(err, EINVAL, "is beyond the first %zu of its kind", GIVEN_DEVICES_MAX);
    if (!given->slices)
        given->slices = ARENA_ARRAY(arena, struct slice_facts, GIVEN_DEVICES_MAX);
    given->slices[given->n_slices++] = facts;
    return 0;
}

static int add_rule(const json_t *object, struct arena *arena, struct given_devices *given,
                    struct err *err)
{
    struct device_taint_facts facts = {0};
    bool taints = false;
    const int r = device_taint_rule_from_json(object, arena, &facts, &taints, err);
    if (r < 0)
        return r;
    if (!taints)
        facts = (struct device_taint_facts){.name = facts.name, .effect = "None"};
    if (given->n_rules == GIVEN_DEVICES_MAX)
        return err_set(err, EINVAL, "is beyond the first %zu of its kind", GIVEN_DEVICES_MAX);
    if (!given->rules)
        given->rules = ARENA_ARRAY(arena, struct device_taint_facts, GIVEN_DEVICES_MAX);
    given->rules[given->n_rules++] = facts;
    return 0;
}

int given_devices_add(const struct given_object *object, const struct policy *policy,
                      struct arena *arena, struct given_devices *given, struct err *err)
{
    const bool is_slice = strcasecmp(object->kind, "ResourceSlice") == 0;
    if (!is_slice && strcasecmp(object->kind, "DeviceTaintRule") != 0)
        return 0;
    if (object->refusal)
        return err_set(err, EINVAL, "%s", object->refusal);
    const int r = is_slice ? add_slice(object->json, policy, arena, given, err)
                           : add_rule(object->json, arena, given, err);
    return r < 0 ? r : 1;
}
