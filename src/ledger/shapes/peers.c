/* peers: see shapes.h. First the copy in one allocation, then the digest, then the table. */
#include "base/mem.h"
#include "ledger/peer.h"
#include "ledger/shape_limits.h"
#include "ledger/shapes/shapes.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

/* ---- copy ---- */

/* The functions below run twice: at NULL only counts bytes. */
struct packer {
    char *at;
    size_t bytes;
};

static void *pack(struct packer *packer, const void *items, size_t n, size_t size)
{
    const size_t align = alignof(int64_t);
    const size_t padded = (n * size + align - 1) / align * align;
    void *copy = packer->at;
    packer->bytes += padded;
    if (!copy || n == 0)
        return NULL;
    memcpy(copy, items, n * size);
    packer->at += padded;
    return copy;
}

static const char *pack_text(struct packer *packer, const char *text)
{
    return pack(packer, text, strlen(text) + 1, 1);
}

static const char *const *pack_texts(struct packer *packer, const char *const *texts, size_t n)
{
    const char **copies = pack(packer, texts, n, sizeof *copies);
    for (size_t i = 0; i < n; i++) {
        const char *copy = pack_text(packer, texts[i]);
        if (copies)
            copies[i] = copy;
    }
    return copies;
}

static struct selector_term pack_term(struct packer *packer, const struct selector_term *term)
{
    const size_t n = term->n_requirements;
    struct requirement *copies = pack(packer, term->requirements, n, sizeof *copies);
    for (size_t i = 0; i < n; i++) {
        const struct requirement *from = &term->requirements[i];
        const char *key = pack_text(packer, from->key);
        const char *const *values = pack_texts(packer, from->values, from->n_values);
        if (!copies)
            continue;
        copies[i].key = key;
        copies[i].values = values;
    }
    return (struct selector_term){copies, n};
}

static const struct peer_term *pack_terms(struct packer *packer, const struct peer_term *terms,
                                          size_t n)
{
    struct peer_term *copies = pack(packer, terms, n, sizeof *copies);
    for (size_t i = 0; i < n; i++) {
        struct peer_term copy = terms[i];
        copy.topology_key = pack_text(packer, terms[i].topology_key);
        copy.selector = pack_term(packer, &terms[i].selector);
        copy.namespaces = pack_texts(packer, terms[i].namespaces, terms[i].n_namespaces);
        copy.namespace_selector = pack_term(packer, &terms[i].namespace_selector);
        if (copies)
            copies[i] = copy;
    }
    return copies;
}

static const struct spread_constraint *pack_spread(struct packer *packer,
                                                   const struct peer_facts *facts)
{
    struct spread_constraint *copies = pack(packer, facts->spread, facts->n_spread, sizeof *copies);
    for (size_t i = 0; i < facts->n_spread; i++) {
        struct spread_constraint copy = facts->spread[i];
        copy.topology_key = pack_text(packer, facts->spread[i].topology_key);
        copy.selector = pack_term(packer, &facts->spread[i].selector);
        if (copies)
            copies[i] = copy;
    }
    return copies;
}

static const struct label *pack_labels(struct packer *packer, const struct peer_facts *facts)
{
    struct label *copies = pack(packer, facts->labels, facts->n_labels, sizeof *copies);
    for (size_t i = 0; i < facts->n_labels; i++) {
        const char *key = pack_text(packer, facts->labels[i].key);
        const char *value = pack_text(packer, facts->labels[i].value);
        if (copies)
            copies[i] = (struct label){key, value};
    }
    return copies;
}

static struct peer_facts pack_facts(struct packer *packer, const struct peer_facts *facts)
{
    struct peer_facts copy = *facts;
    copy.labels = pack_labels(packer, facts);
    copy.affinity = pack_terms(packer, facts->affinity, facts->n_affinity);
    copy.anti_affinity = pack_terms(packer, facts->anti_affinity, facts->n_anti_affinity);
    copy.spread = pack_spread(packer, facts);
    return copy;
}

struct peer_facts peer_joined(const struct peer_facts *labels, const struct peer_facts *terms)
{
    struct peer_facts joined = {0};
    if (terms)
        joined = *terms;
    if (labels) {
        joined.labels = labels->labels;
        joined.n_labels = labels->n_labels;
    }
    return joined;
}

struct peer_facts peer_copy(const struct peer_facts *facts, struct arena *arena)
{
    struct packer packer = {0};
    (void)pack_facts(&packer, facts);
    packer.at = arena_alloc(arena, packer.bytes);
    return pack_facts(&packer, facts);
}

/* ---- digest ---- */

static void digest_terms(struct siphash *hash, const struct peer_term *terms, size_t n)
{
    shape_digest_number(hash, (int64_t)n);
    for (size_t i = 0; i < n; i++) {
        shape_digest_text(hash, terms[i].topology_key);
        shape_digest_number(hash, terms[i].selects_none);
        shape_digest_term(hash, &terms[i].selector);
        shape_digest_number(hash, (int64_t)terms[i].n_namespaces);
        for (size_t j = 0; j < terms[i].n_namespaces; j++)
            shape_digest_text(hash, terms[i].namespaces[j]);
        shape_digest_number(hash, terms[i].selects_namespaces);
        shape_digest_term(hash, &terms[i].namespace_selector);
    }
}

static void digest_spread(struct siphash *hash, const struct spread_constraint *spread)
{
    shape_digest_text(hash, spread->topology_key);
    shape_digest_number(hash, spread->selects_none);
    shape_digest_term(hash, &spread->selector);
    shape_digest_number(hash, spread->max_skew);
    shape_digest_number(hash, spread->min_domains);
    shape_digest_number(hash, spread->ignores_affinity);
    shape_digest_number(hash, spread->honors_taints);
}

/* Keyed with the process's secret, as tenants choose all of it. */
static struct siphash128 digest_of(const char *namespace_, const struct peer_facts *facts)
{
    struct siphash hash = siphash_begin(hash_key(), true);
    shape_digest_text(&hash, namespace_);
    shape_digest_number(&hash, (int64_t)facts->n_labels);
    for (size_t i = 0; i < facts->n_labels; i++) {
        shape_digest_text(&hash, facts->labels[i].key);
        shape_digest_text(&hash, facts->labels[i].value);
    }
    digest_terms(&hash, facts->affinity, facts->n_affinity);
    digest_terms(&hash, facts->anti_affinity, facts->n_anti_affinity);
    shape_digest_number(&hash, (int64_t)facts->n_spread);
    for (size_t i = 0; i < facts->n_spread; i++)
        digest_spread(&hash, &facts->spread[i]);
    return siphash_end128(&hash, HASH_ROUNDS, HASH_LAST_ROUNDS);
}

/* ---- the table ---- */

static struct peer_entry *new_entry(const struct peer_facts *part, size_t bytes,
                                    const struct siphash128 *digest)
{
    struct peer_entry *entry = mem_new(bytes);
    struct packer packer = {.at = (char *)(entry + 1)};
    entry->facts = pack_facts(&packer, part);
    entry->bytes = bytes;
    entry->digest = *digest;
    return entry;
}

/* NULL: no room. */
static const struct peer_facts *intern_part(struct peers *peers, const struct policy *policy,
                                            const char *namespace_, const struct peer_facts *part)
{
    const struct siphash128 digest = digest_of(namespace_, part);
    struct peer_entry *entry = NULL;
    HASH_FIND(hh, peers->entries, &digest, sizeof digest, entry);
    if (!entry) {
        struct packer packer = {0};
        (void)pack_facts(&packer, part);
        const size_t bytes = sizeof *entry + packer.bytes;
        if (bytes > policy->pod_shape_bytes ||
            !shape_accounts_may_add(&peers->accounts, namespace_, bytes, peers->bytes + bytes,
                                    policy->pod_shapes_bytes / peers->share))
            return NULL;
        entry = new_entry(part, bytes, &digest);
        HASH_ADD(hh, peers->entries, digest, sizeof entry->digest, entry);
        shape_accounts_add(&peers->accounts, namespace_, bytes);
        peers->bytes += bytes;
    }
    entry->refs++;
    return &entry->facts;
}

struct kept_peers peers_intern(struct peers *peers, const struct policy *policy,
                               const char *namespace_, const struct peer_facts *facts)
{
    const struct peer_facts labels = {.labels = facts->labels, .n_labels = facts->n_labels};
    struct peer_facts terms = *facts;
    terms.labels = NULL;
    terms.n_labels = 0;
    const bool has_terms = peer_facts_have_terms(facts);
    struct kept_peers kept = {0};
    if (facts->n_labels > 0)
        kept.labels = intern_part(peers, policy, namespace_, &labels);
    if (has_terms)
        kept.terms = intern_part(peers, policy, namespace_, &terms);
    kept.lacks_any = (facts->n_labels > 0 && !kept.labels) || (has_terms && !kept.terms);
    return kept;
}

/* Every part is in an entry; const binds other modules only. */
static struct peer_entry *entry_of(const struct peer_facts *part)
{
    return CONTAINER_OF(part, struct peer_entry, facts);
}

void peers_ref(const struct peer_facts *part)
{
    if (part)
        entry_of(part)->refs++;
}

void peers_unref(struct peers *peers, const char *namespace_, const struct peer_facts *part)
{
    if (!part || --entry_of(part)->refs > 0)
        return;
    struct peer_entry *entry = entry_of(part);
    shape_accounts_subtract(&peers->accounts, namespace_, entry->bytes);
    peers->bytes -= entry->bytes;
    HASH_DEL(peers->entries, entry);
    free(entry);
}
