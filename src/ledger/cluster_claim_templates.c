/*
 * cluster_claim_templates: what claims will want that are not made yet. See
 * include/ledger/cluster.h.
 */
#include "base/mem.h"
#include "ledger.h"

#include <stdlib.h>
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

static struct claim_template *find(const struct cluster *cluster, const char *namespace_,
                                   const char *name)
{
    struct claim_template *found = NULL;
    char *key CLEANUP(mem_free_ptr) = mem_new(strlen(namespace_) + strlen(name) + 2);
    char *at = key;
    (void)append_key(&at, namespace_, name);
    HASH_FIND_STR(cluster->claim_templates, key, found);
    return found;
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

static void remove_template(struct cluster *cluster, struct claim_template *template)
{
    if (cluster->template_swept_to == template)
        cluster->template_swept_to = template->hh.next;
    cluster->template_spec_bytes -= size_of_spec(&template->facts);
    HASH_DEL(cluster->claim_templates, template);
    free(template);
}

static struct claim_template *put(struct cluster *cluster, const struct claim_template_facts *facts)
{
    struct claim_template_facts kept = *facts;
    struct claim_template *template = find(cluster, facts->namespace_, facts->name);
    if (template && are_equal(&template->facts, facts))
        return template;
    if (template)
        remove_template(cluster, template);
    if (size_of_spec(facts) > CLAIM_TEXTS_BYTES_MAX - cluster->template_spec_bytes)
        kept.spec = NULL;
    cluster->template_spec_bytes += size_of_spec(&kept);
    template = template_new(&kept);
    HASH_ADD_KEYPTR(hh, cluster->claim_templates, template->texts, strlen(template->texts),
                    template);
    cluster->version++;
    return template;
}

void cluster_upsert_claim_template(struct cluster *cluster,
                                   const struct claim_template_facts *facts)
{
    put(cluster, facts)->seen = cluster->relists[CLUSTER_CLAIM_TEMPLATES];
}

void cluster_claim_templates_copy(struct cluster *to, const struct claim_template_facts *facts)
{
    put(to, facts)->seen = CONTAINER_OF(facts, const struct claim_template, facts)->seen;
}

void cluster_delete_claim_template(struct cluster *cluster, const char *namespace_,
                                   const char *name)
{
    struct claim_template *template = find(cluster, namespace_, name);
    if (!template)
        return;
    remove_template(cluster, template);
    cluster->version++;
}

void cluster_keep_claim_template(struct cluster *cluster, const char *namespace_, const char *name)
{
    struct claim_template *template = find(cluster, namespace_, name);
    if (template)
        template->seen = cluster->relists[CLUSTER_CLAIM_TEMPLATES];
}

const struct claim_template_facts *
cluster_find_claim_template(const struct cluster *cluster, const char *namespace_, const char *name)
{
    const struct claim_template *template = find(cluster, namespace_, name);
    return template ? &template->facts : NULL;
}

size_t cluster_n_claim_templates(const struct cluster *cluster)
{
    return HASH_COUNT(cluster->claim_templates);
}

const struct claim_template_facts *
cluster_next_claim_template(const struct cluster *cluster, const struct claim_template_facts *facts)
{
    const struct claim_template *next =
        facts ? CONTAINER_OF(facts, const struct claim_template, facts)->hh.next
              : cluster->claim_templates;
    return next ? &next->facts : NULL;
}

bool cluster_relist_sweep_claim_templates(struct cluster *cluster, size_t work)
{
    if (!cluster->is_sweeping_templates)
        cluster->template_swept_to = cluster->claim_templates;
    for (size_t done = 0; cluster->template_swept_to && done < work; done++) {
        struct claim_template *template = cluster->template_swept_to;
        cluster->template_swept_to = template->hh.next;
        if (template->seen == cluster->relists[CLUSTER_CLAIM_TEMPLATES])
            continue;
        remove_template(cluster, template);
        cluster->version++;
        done += CLUSTER_SWEEP_DELETION - 1;
    }
    cluster->is_sweeping_templates = cluster->template_swept_to != NULL;
    return !cluster->is_sweeping_templates;
}

void cluster_claim_templates_free_all(struct cluster *cluster)
{
    struct claim_template *template = cluster->claim_templates;
    HASH_CLEAR(hh, cluster->claim_templates);
    while (template) {
        struct claim_template *next = template->hh.next;
        free(template);
        template = next;
    }
}

void cluster_set_claim_templates_known(struct cluster *cluster, bool known)
{
    if (cluster->templates_unknown == !known)
        return;
    cluster->templates_unknown = !known;
    cluster->n_other_changes++;
}

bool cluster_claim_templates_known(const struct cluster *cluster)
{
    return !cluster->templates_unknown;
}
