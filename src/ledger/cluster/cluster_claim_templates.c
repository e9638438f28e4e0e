/*
 * cluster_claim_templates: what claims will want that are not made yet. See
 * include/ledger/cluster.h.
 */
#include "base/mem.h"
#include "ledger/ledger.h"

#include <string.h>

static const char *append(char **at, const char *text)
{
    char *copy = *at;
    const size_t size = strlen(text) + 1;
    memcpy(copy, text, size);
    *at += size;
    return copy;
}

static const char *append_key(char **at, const char *namespace_, const char *name)
{
    const char *key = append(at, namespace_);
    (*at)[-1] = '/';
    (void)append(at, name);
    return key;
}

static const struct claim_template_facts *facts_of(const struct kept *object)
{
    return &CONTAINER_OF(object, const struct claim_template, kept)->facts;
}

static struct kept *find(const struct cluster *cluster, const char *namespace_, const char *name)
{
    char *key CLEANUP(mem_free_ptr) = mem_new(strlen(namespace_) + strlen(name) + 2);
    char *at = key;
    (void)append_key(&at, namespace_, name);
    return kept_find(cluster, CLUSTER_CLAIM_TEMPLATES, key);
}

static size_t size_of_spec(const struct claim_template_facts *facts)
{
    return facts->spec ? strlen(facts->spec) + 1 : 0;
}

static size_t size_of_texts(const struct claim_template_facts *facts)
{
    const size_t size_of_names = strlen(facts->namespace_) + strlen(facts->name) + 2;
    size_t size = 2 * size_of_names; /* the key and both names */
    for (size_t i = 0; i < facts->n_wants; i++)
        size += strlen(facts->wants[i].class_name) + strlen(facts->wants[i].driver) + 2;
    return size + size_of_spec(facts);
}

static struct claim_template *template_new(const struct claim_template_facts *facts)
{
    struct claim_template *template = mem_new(sizeof *template + size_of_texts(facts));
    char *at = template->texts;
    (void)append_key(&at, facts->namespace_, facts->name);
    template->facts = (struct claim_template_facts){.namespace_ = append(&at, facts->namespace_),
                                                    .name = append(&at, facts->name),
                                                    .wants = template->wants,
                                                    .n_wants = facts->n_wants};
    for (size_t i = 0; i < facts->n_wants; i++)
        template->wants[i] =
            (struct claim_want){append(&at, facts->wants[i].class_name),
                                append(&at, facts->wants[i].driver), facts->wants[i].n_devices};
    template->facts.spec = facts->spec ? append(&at, facts->spec) : NULL;
    return template;
}

static bool specs_equal(const struct claim_template_facts *a, const struct claim_template_facts *b)
{
    return a->spec && b->spec ? strcmp(a->spec, b->spec) == 0 : a->spec == b->spec;
}

static bool are_equal(const struct claim_template_facts *a, const struct claim_template_facts *b)
{
    bool equal = a->n_wants == b->n_wants && specs_equal(a, b);
    for (size_t i = 0; equal && i < a->n_wants; i++)
        equal = strcmp(a->wants[i].class_name, b->wants[i].class_name) == 0 &&
                strcmp(a->wants[i].driver, b->wants[i].driver) == 0 &&
                a->wants[i].n_devices == b->wants[i].n_devices;
    return equal;
}

void cluster_claim_templates_let_go(struct cluster *cluster, struct kept *object)
{
    cluster->template_spec_bytes -= size_of_spec(facts_of(object));
}

void cluster_upsert_claim_template(struct cluster *cluster,
                                   const struct claim_template_facts *facts)
{
    struct claim_template_facts kept = *facts;
    struct kept *object = find(cluster, facts->namespace_, facts->name);
    if (object && are_equal(facts_of(object), facts)) {
        object->seen = cluster->relists[CLUSTER_CLAIM_TEMPLATES];
        return;
    }
    if (object)
        kept_remove(cluster, CLUSTER_CLAIM_TEMPLATES, object);
    if (size_of_spec(facts) > CLAIM_TEXTS_BYTES_MAX - cluster->template_spec_bytes)
        kept.spec = NULL;
    cluster->template_spec_bytes += size_of_spec(&kept);
    struct claim_template *template = template_new(&kept);
    kept_add(cluster, CLUSTER_CLAIM_TEMPLATES, &template->kept, template->texts);
    kept_changed(cluster, CLUSTER_CLAIM_TEMPLATES);
}

const void *cluster_claim_templates_facts(const struct kept *object, struct arena *arena)
{
    const struct claim_template_facts *kept = facts_of(object);
    struct claim_template_facts *facts = arena_copy(arena, kept, 1, sizeof *kept);
    struct claim_want *wants = arena_copy(arena, kept->wants, kept->n_wants, sizeof *wants);
    for (size_t i = 0; i < kept->n_wants; i++) {
        wants[i].class_name = arena_strdup(arena, wants[i].class_name);
        wants[i].driver = arena_strdup(arena, wants[i].driver);
    }
    facts->namespace_ = arena_strdup(arena, kept->namespace_);
    facts->name = arena_strdup(arena, kept->name);
    facts->wants = wants;
    facts->spec = kept->spec ? arena_strdup(arena, kept->spec) : NULL;
    return facts;
}

const struct claim_template_facts *
cluster_find_claim_template(const struct cluster *cluster, const char *namespace_, const char *name)
{
    const struct kept *object = find(cluster, namespace_, name);
    return object ? facts_of(object) : NULL;
}

const struct claim_template_facts *
cluster_next_claim_template(const struct cluster *cluster, const struct claim_template_facts *facts)
{
    const struct kept *next =
        facts ? CONTAINER_OF(facts, const struct claim_template, facts)->kept.hh.next
              : cluster->kept[CLUSTER_CLAIM_TEMPLATES].first;
    return next ? facts_of(next) : NULL;
}
