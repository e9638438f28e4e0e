/* asked_claims: see include/ledger/asked_claims.h. */
#include "ledger/asked_claims.h"
#include "base/mem.h"
#include "dra/devices.h"
#include "ledger.h"
#include "ledger/claim_usage.h"

#include <string.h>

/* lines NULL: none. */
static bool has_line(const char *lines, const char *line)
{
    const size_t len = strlen(line);
    for (const char *at = lines; at && *at; at += strcspn(at, "\n") + 1) {
        if (strcspn(at, "\n") == len && strncmp(at, line, len) == 0)
            return true;
    }
    return false;
}

/* The next line as a text; NULL: none is left. */
static const char *take_line(const char **lines, struct arena *arena)
{
    if (!(*lines)[0])
        return NULL;
    const size_t len = strcspn(*lines, "\n");
    const char *line = arena_printf(arena, "%.*s", (int)len, *lines);
    *lines += len + 1;
    return line;
}

static bool are_judged(const struct cluster *cluster, const struct claims_question *question)
{
    return question->claims && cluster->devices && cluster->policy->n_quotas > 0 &&
           cluster_knows(cluster, CLUSTER_CLAIMS);
}

static bool is_reserved_for(const struct device_claim *claim, const struct asker *asker)
{
    struct device_holder holder = {0};
    while (devices_next_holder(claim, &holder)) {
        if (asker->uid && strcmp(holder.uid, asker->uid) == 0)
            return true;
    }
    return claim->n_all_holders > claim->n_holders;
}

static int64_t *cells_of(const struct cluster *cluster, int64_t *cells, struct arena *arena)
{
    return cells ? cells : ARENA_ARRAY(arena, int64_t, namespace_usage_n_cells(cluster->policy));
}

/* The class decides, if its driver is known: of another driver the claim gets nothing. */
static uint64_t scopes_of(const struct cluster *cluster, const struct claim_want *want)
{
    const uint64_t scopes = cluster_device_class_scopes(cluster, want->class_name);
    const bool is_known = cluster_device_class_driver(cluster, want->class_name)[0] != '\0';
    return is_known || !want->driver[0] ? scopes
                                        : claim_usage_scopes(cluster->policy, want->driver);
}

static void add_wants(const struct cluster *cluster, const struct claim_want *wants, size_t n,
                      int64_t *sums)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t scopes = scopes_of(cluster, &wants[i]);
        for (size_t scope = 0; scope < cluster->policy->n_quota_scopes; scope++) {
            if (scopes >> scope & 1)
                sums[scope] = amount_add(sums[scope], wants[i].n_devices);
        }
    }
}

static void add_refused(const struct cluster *cluster, const struct claim_use *use,
                        struct asked_claims *asked, struct arena *arena)
{
    const int64_t *refused = use ? claim_usage_refused(use) : NULL;
    if (!refused)
        return;
    asked->refused = cells_of(cluster, asked->refused, arena);
    for (size_t i = 0; i < namespace_usage_n_cells(cluster->policy); i++)
        asked->refused[i] = amount_add(asked->refused[i], refused[i]);
}

static bool precedes(const struct claim_use *use, const struct claim_use *other)
{
    const int order = strcmp(claim_usage_namespace(use), claim_usage_namespace(other));
    return order < 0 || (order == 0 && strcmp(claim_usage_name(use), claim_usage_name(other)) < 0);
}

static void add_used(const struct cluster *cluster, const struct claim_use *use,
                     struct asked_claims *asked, struct arena *arena)
{
    if (!use || !claim_usage_counts(use))
        return;
    asked->used = cells_of(cluster, asked->used, arena);
    claim_usage_add(cluster->policy, asked->used, use);
    if (claim_usage_floats(use) && (!asked->first_floating || precedes(use, asked->first_floating)))
        asked->first_floating = use;
}

static const struct claim_template_facts *find_given(const struct given_list *list,
                                                     const char *namespace_, const char *name)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct claim_template_facts *item = &list->items[i];
        if (strcmp(item->name, name) == 0 && strcmp(item->namespace_, namespace_) == 0)
            return item;
    }
    return NULL;
}

static void add_given_claim(const struct cluster *cluster, const struct claims_question *question,
                            const char *name, struct asked_claims *asked)
{
    const struct given_claims *given = question->given;
    const struct claim_template_facts *claim =
        given ? find_given(&given->claims, question->namespace_, name) : NULL;
    if (claim)
        add_wants(cluster, claim->wants, claim->n_wants, asked->least);
}

static void add_claim(const struct cluster *cluster, const struct claims_question *question,
                      const char *name, struct asked_claims *asked, struct arena *arena)
{
    const struct device_claim *claim =
        devices_find_claim(cluster->devices, question->namespace_, name);
    const struct claim_use *use = claim_usage_find(cluster, question->namespace_, name);
    asked->are_ready &= claim && claim->is_allocated && is_reserved_for(claim, question->asker);
    if (!claim) {
        add_given_claim(cluster, question, name, asked);
        return;
    }
    if (claim->is_allocated) {
        add_used(cluster, use, asked, arena);
        return;
    }
    add_wants(cluster, claim->wants, claim->n_wants, asked->least);
    add_refused(cluster, use, asked, arena);
}

static bool is_template(const char *line)
{
    return line[0] == '/';
}

static const struct claim_template_facts *find_template(const struct cluster *cluster,
                                                        const struct claims_question *question,
                                                        const char *line)
{
    const struct given_claims *given = question->given;
    const struct claim_template_facts *template =
        given ? find_given(&given->templates, question->namespace_, &line[1]) : NULL;
    return template ? template
                    : cluster_find_claim_template(cluster, question->namespace_, &line[1]);
}

/* A claim that is not made yet. */
static void add_template(const struct cluster *cluster, const struct claims_question *question,
                         const char *line, struct asked_claims *asked)
{
    const struct claim_template_facts *template = find_template(cluster, question, line);
    asked->are_ready = false;
    if (!template)
        return;
    add_wants(cluster, template->wants, template->n_wants, asked->least);
    add_wants(cluster, template->wants, template->n_wants, asked->each);
}

struct asked_claims asked_claims_of(const struct cluster *cluster,
                                    const struct claims_question *question, struct arena *arena)
{
    struct asked_claims asked = {.are_ready = true};
    if (!are_judged(cluster, question))
        return asked;
    const char *extended = question->asker->extended_claim;
    const char *lines = question->claims;
    const char *name = NULL;
    while ((name = take_line(&lines, arena))) {
        if (is_template(name))
            add_template(cluster, question, name, &asked);
        else if ((!extended || strcmp(name, extended) != 0) && !has_line(question->except, name))
            add_claim(cluster, question, name, &asked, arena);
    }
    return asked;
}

const char *asked_claims_unknown(const struct cluster *cluster,
                                 const struct claims_question *question, struct arena *arena)
{
    const size_t *quotas = NULL;
    const char *notes = NULL;
    if (!are_judged(cluster, question) ||
        namespace_usage_find_quotas(cluster, question->namespace_, arena, &quotas) == 0)
        return NULL;
    const char *why =
        cluster_knows(cluster, CLUSTER_CLAIM_TEMPLATES) ? "does not exist" : "is not listed";
    const char *lines = question->claims;
    const char *name = NULL;
    while ((name = take_line(&lines, arena))) {
        if (is_template(name) && !find_template(cluster, question, name))
            notes = arena_printf(arena, "%sresource claim template %s: %s, so no quota counts it\n",
                                 notes ? notes : "", &name[1], why);
    }
    return notes;
}

bool asked_claims_count(const struct cluster *cluster, const struct asked_claims *asked)
{
    for (size_t scope = 0; scope < cluster->policy->n_quota_scopes; scope++) {
        if (asked->least[scope] > 0)
            return true;
    }
    return asked->used || asked->refused;
}

static bool is_named(const struct claims_question *question, const struct claim_use *use)
{
    return strcmp(question->namespace_, claim_usage_namespace(use)) == 0 &&
           has_line(question->claims, claim_usage_name(use));
}

static void add_yielding(const struct cluster *cluster, const struct claim_use *use, int64_t *cells)
{
    size_t n = 0;
    const size_t *quotas = namespace_usage_covering(cluster, claim_usage_namespace(use), &n);
    for (size_t i = 0; i < n; i++)
        claim_usage_add(cluster->policy,
                        &cells[quotas[i] * namespace_usage_n_cells(cluster->policy)], use);
}

const int64_t *asked_claims_yielding(const struct cluster *cluster,
                                     const struct claims_question *question,
                                     const struct asked_claims *asked, struct arena *arena)
{
    int64_t *cells = NULL;
    for (const struct claim_use *use = claim_usage_next_floating(cluster, NULL); use;
         use = claim_usage_next_floating(cluster, use)) {
        if ((asked->first_floating && precedes(use, asked->first_floating)) ||
            is_named(question, use))
            continue;
        if (!cells)
            cells =
                ARENA_ARRAY(arena, int64_t,
                            cluster->policy->n_quotas * namespace_usage_n_cells(cluster->policy));
        add_yielding(cluster, use, cells);
    }
    return cells;
}

const struct asked_claims *asked_claims_for_fork(const struct cluster *cluster,
                                                 const struct claims_question *question,
                                                 struct arena *arena)
{
    struct asked_claims *asked = ARENA_NEW(arena, struct asked_claims);
    *asked = asked_claims_of(cluster, question, arena);
    if (!asked_claims_count(cluster, asked))
        return NULL;
    if (asked->used)
        asked->yielding = asked_claims_yielding(cluster, question, asked, arena);
    asked->first_floating = NULL;
    asked->policy = cluster->policy;
    return asked;
}

struct asked_models asked_claims_models(const struct cluster *cluster, const struct node *node)
{
    struct asked_models models = node->claim_models;
    if (cluster->has_devices_of_several)
        models.sure = 0;
    return models;
}

void asked_claims_refuse(struct cluster *cluster, const struct claims_question *question)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    if (!are_judged(cluster, question))
        return;
    const char *lines = question->claims;
    const char *name = NULL;
    while ((name = take_line(&lines, arena)))
        claim_usage_refuse(cluster, question->namespace_, name);
}
