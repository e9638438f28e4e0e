/*
 * gpu_kinds: see ledger.h.
 *
 * The domain of a resource is its vendor's ("amd.com/gpu"), and so is that of the labels that the
 * vendor's own software writes ("beta.amd.com/gpu.vram"). Other labels name one model, whose
 * vendor tells which GPUs of a node with several vendors they are about.
 */
#include "base/mem.h"
#include "ledger.h"
#include "types/gpu_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Further vendors of one node count as the first. */
#define VENDORS_MAX 8

/* The vendors of a node's GPU resources. */
struct vendors {
    const char *domains[VENDORS_MAX]; /* interned, sorted */
    size_t n;
};

static size_t domain_length(const char *key)
{
    return strcspn(key, "/");
}

/* domain: also a resource of it. */
static bool is_in_domain(const char *resource, const char *domain)
{
    const size_t len = domain_length(domain);
    return domain_length(resource) == len && strncmp(resource, domain, len) == 0;
}

bool gpu_kinds_is_of_vendor(const char *key, const char *domain)
{
    /* No other: "cloud.google.com" labels GPUs of all vendors, and "google.com" makes TPUs. */
    static const char *const SUBDOMAINS[] = {"", "beta.", "gpu."};
    for (size_t i = 0; i < sizeof SUBDOMAINS / sizeof *SUBDOMAINS; i++) {
        const size_t len = strlen(SUBDOMAINS[i]);
        if (strncmp(key, SUBDOMAINS[i], len) == 0 && is_in_domain(key + len, domain))
            return true;
    }
    return false;
}

/* ---- vendors ---- */

static bool has_domain(const struct vendors *vendors, const char *resource)
{
    for (size_t i = 0; i < vendors->n; i++) {
        if (is_in_domain(resource, vendors->domains[i]))
            return true;
    }
    return false;
}

static void add_vendors(struct string_table *strings, const struct policy *policy,
                        const struct amount *amounts, size_t n, struct vendors *vendors)
{
    for (size_t i = 0; i < n; i++) {
        const char *name = amounts[i].resource;
        char domain[256];
        if (!policy_is_gpu_resource(policy, name) || has_domain(vendors, name) ||
            vendors->n == VENDORS_MAX)
            continue;
        (void)snprintf(domain, sizeof domain, "%.*s", (int)domain_length(name), name);
        size_t at = vendors->n++;
        for (; at > 0 && strcmp(vendors->domains[at - 1], domain) > 0; at--)
            vendors->domains[at] = vendors->domains[at - 1];
        vendors->domains[at] = string_table_intern(strings, domain);
    }
}

static bool is_offered(const struct policy *policy, const struct node_facts *facts)
{
    const bool has_own = facts->n_allocatable > 0; /* empty, it defaults to capacity */
    const struct amount *amounts = has_own ? facts->allocatable : facts->capacity;
    const size_t n = has_own ? facts->n_allocatable : facts->n_capacity;
    for (size_t i = 0; i < n; i++) {
        if (amounts[i].amount > 0 && policy_is_gpu_resource(policy, amounts[i].resource))
            return true;
    }
    return false;
}

/* Never empty: one without a domain is any vendor. A row that a device plugin left behind does not
 * tell the vendor of the node's devices. */
static struct vendors find_vendors(struct string_table *strings, const struct policy *policy,
                                   const struct node_facts *facts)
{
    struct vendors vendors = {.n = 0};
    add_vendors(strings, policy, facts->allocatable, facts->n_allocatable, &vendors);
    add_vendors(strings, policy, facts->capacity, facts->n_capacity, &vendors);
    if (vendors.n == 1 && !is_offered(policy, facts))
        string_table_unref(strings, vendors.domains[--vendors.n]);
    if (vendors.n == 0)
        vendors.domains[vendors.n++] = string_table_intern(strings, "");
    return vendors;
}

static struct vendors vendors_of(const struct node_traits *traits)
{
    struct vendors vendors = {.n = 0};
    for (const struct gpu_kind *kind = NULL; (kind = node_traits_next_kind(traits, kind));)
        vendors.domains[vendors.n++] = kind->domain;
    return vendors;
}

/* ---- labels ---- */

static bool has_own_labels(const struct policy *policy, const char *domain)
{
    for (size_t i = 0; i < policy->n_model_labels; i++) {
        if (gpu_kinds_is_of_vendor(policy->model_labels[i], domain))
            return true;
    }
    return false;
}

/* The GPU resource of the vendor that writes the label; NULL: none. Kubernetes is no vendor. */
static const char *resource_of_label(const struct policy *policy, const char *key)
{
    for (size_t i = 0; i < policy->n_gpu_resources; i++) {
        const char *resource = policy->gpu_resources[i];
        if (gpu_kinds_is_of_vendor(key, resource) && !strstr(resource, "kubernetes.io/"))
            return resource;
    }
    return NULL;
}

/* The vendor of the model that a label in the key's domain names; "": none, or unknown. */
static const char *vendor_beside(const struct label_view *view, const char *key)
{
    const struct policy *policy = view->policy;
    struct gpu_model model;
    for (size_t i = 0; i < policy->n_model_labels; i++) {
        const char *other = policy->model_labels[i];
        const char *value =
            is_in_domain(other, key) ? labels_find(view->labels, view->n_labels, other) : NULL;
        if (!value || !gpu_model_parse(value, policy->aliases, policy->n_aliases, &model))
            continue;
        const char *vendor = gpu_vendor_of_model(value);
        return vendor[0] ? vendor : gpu_vendor_of_model(model.chip);
    }
    return "";
}

static bool is_about(const struct label_view *view, const struct vendors *vendors,
                     const char *domain, const char *key)
{
    if (!domain[0] || gpu_kinds_is_of_vendor(key, domain))
        return true;
    const char *of_other = resource_of_label(view->policy, key);
    if (of_other)
        return !has_domain(vendors, of_other) && !has_own_labels(view->policy, domain);
    const char *vendor = vendors->n > 1 ? vendor_beside(view, key) : "";
    bool is_there = false;
    for (size_t i = 0; i < vendors->n; i++)
        is_there |= gpu_vendor_has(vendor, vendors->domains[i]);
    return !is_there || gpu_vendor_has(vendor, domain);
}

bool gpu_kind_is_named_by(const struct node_traits *traits, const struct gpu_kind *kind,
                          const char *label)
{
    const struct vendors vendors = vendors_of(traits);
    return is_about(&traits->view, &vendors, kind->domain, label);
}

/* The first label in the policy's list whose value names a model decides; with several vendors
 * those of their own come first. Returns its index; the length of the list: none. */
static size_t find_label(const struct label_view *view, const struct vendors *vendors,
                         const char *domain, struct gpu_model *ret_model)
{
    const struct policy *policy = view->policy;
    size_t found = policy->n_model_labels;
    for (size_t i = 0; i < policy->n_model_labels; i++) {
        const char *key = policy->model_labels[i];
        const bool is_own = vendors->n == 1 || gpu_kinds_is_of_vendor(key, domain);
        const char *value = labels_find(view->labels, view->n_labels, key);
        struct gpu_model model;
        if (!value || (found < policy->n_model_labels && !is_own) ||
            !is_about(view, vendors, domain, key) ||
            !gpu_model_parse(value, policy->aliases, policy->n_aliases, &model))
            continue;
        *ret_model = model;
        found = i;
        if (is_own)
            break;
    }
    return found;
}

static size_t name_kind(const struct label_view *view, const struct vendors *vendors,
                        const char *domain, struct gpu_kind *ret_kind)
{
    struct gpu_kind kind = {.domain = domain, .label = "", .value = ""};
    const size_t at = find_label(view, vendors, domain, &kind.model);
    if (at < view->policy->n_model_labels) {
        kind.label = view->policy->model_labels[at];
        kind.value = labels_find(view->labels, view->n_labels, kind.label);
    }
    *ret_kind = kind;
    return at;
}

void gpu_kinds_find(struct string_table *strings, const struct node_facts *facts,
                    struct node_traits *traits)
{
    const struct vendors vendors = find_vendors(strings, traits->view.policy, facts);
    size_t first = name_kind(&traits->view, &vendors, vendors.domains[0], &traits->gpus);
    traits->others = vendors.n > 1 ? MEM_ARRAY(struct gpu_kind, vendors.n - 1) : NULL;
    for (size_t i = 1; i < vendors.n; i++) {
        struct gpu_kind *kind = &traits->others[traits->n_others++];
        const size_t at = name_kind(&traits->view, &vendors, vendors.domains[i], kind);
        if (at >= first)
            continue;
        const struct gpu_kind former = traits->gpus;
        traits->gpus = *kind;
        *kind = former;
        first = at;
    }
}

/* ---- all of a node ---- */

const struct gpu_kind *node_traits_next_kind(const struct node_traits *traits,
                                             const struct gpu_kind *kind)
{
    if (!kind)
        return &traits->gpus;
    const size_t next = kind == &traits->gpus ? 0 : (size_t)(kind - traits->others) + 1;
    return next < traits->n_others ? &traits->others[next] : NULL;
}

const struct gpu_kind *node_traits_gpus(const struct node_traits *traits, const char *resource)
{
    for (size_t i = 0; i < traits->n_others; i++) {
        if (is_in_domain(resource, traits->others[i].domain))
            return &traits->others[i];
    }
    return &traits->gpus;
}

const struct gpu_kind *gpu_kinds_of_domain(const struct node_traits *traits, const char *domain)
{
    const struct gpu_kind *gpus = &traits->gpus;
    for (size_t i = 0; i < traits->n_others; i++) {
        if (strcmp(traits->others[i].domain, domain) == 0)
            return &traits->others[i];
    }
    return !domain[0] || !gpus->domain[0] || strcmp(gpus->domain, domain) == 0 ? gpus : NULL;
}

void gpu_kinds_copy(struct string_table *strings, struct node_traits *copy)
{
    const struct gpu_kind *others = copy->others;
    copy->others = copy->n_others > 0 ? MEM_ARRAY(struct gpu_kind, copy->n_others) : NULL;
    copy->gpus.domain = string_table_intern(strings, copy->gpus.domain);
    for (size_t i = 0; i < copy->n_others; i++) {
        copy->others[i] = others[i];
        copy->others[i].domain = string_table_intern(strings, others[i].domain);
    }
}

static void drop_names(struct string_table *strings, const struct gpu_kind *kind)
{
    string_table_unref(strings, kind->domain);
    string_table_unref(strings, kind->driver);
}

void gpu_kinds_free(struct string_table *strings, struct node_traits *traits)
{
    drop_names(strings, &traits->gpus);
    for (size_t i = 0; i < traits->n_others; i++)
        drop_names(strings, &traits->others[i]);
    free(traits->others);
}

bool gpu_kinds_equal(const struct node_traits *a, const struct node_traits *b)
{
    if (a->n_others != b->n_others || strcmp(a->gpus.domain, b->gpus.domain) != 0)
        return false;
    for (size_t i = 0; i < a->n_others; i++) {
        if (strcmp(a->others[i].domain, b->others[i].domain) != 0)
            return false;
    }
    return true;
}
