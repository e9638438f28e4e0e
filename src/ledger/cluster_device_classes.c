/*
 * cluster_device_classes: the extended resources that kube-scheduler would allocate by a claim. See
 * include/ledger/cluster.h.
 *
 * Source: Kubernetes' DRAExtendedResource (KEP-5004): spec.extendedResourceName, and for every
 * class the name deviceclass.resource.kubernetes.io/CLASS (PROTOCOL 11.2).
 */
#include "base/mem.h"
#include "ledger.h"

#include <stdlib.h>
#include <string.h>

#define IMPLICIT "deviceclass.resource.kubernetes.io/"

struct device_class {
    char *name;
    char *driver; /* NULL: not known */
    struct selector_texts selectors;
    const char **texts;               /* of selectors, interned */
    struct claimed_resource *claimed; /* NULL: only its implicit name */
    uint64_t seen;
    UT_hash_handle hh;
};

/* A resource that device classes map. */
struct claimed_resource {
    size_t n_classes;
    UT_hash_handle hh;
    char name[];
};

static struct device_class *find(const struct cluster *cluster, const char *name)
{
    struct device_class *class = NULL;
    HASH_FIND_STR(cluster->device_classes, name, class);
    return class;
}

static struct claimed_resource *find_claimed(const struct cluster *cluster, const char *name)
{
    struct claimed_resource *claimed = NULL;
    HASH_FIND_STR(cluster->claimed_resources, name, claimed);
    return claimed;
}

static struct claimed_resource *ref_claimed(struct cluster *cluster, const char *name)
{
    if (!name[0])
        return NULL;
    struct claimed_resource *claimed = find_claimed(cluster, name);
    if (!claimed) {
        claimed = MEM_NEW_WITH_TEXT(struct claimed_resource, name, name);
        HASH_ADD_STR(cluster->claimed_resources, name, claimed);
    }
    claimed->n_classes++;
    return claimed;
}

static void unref_claimed(struct cluster *cluster, struct claimed_resource *claimed)
{
    if (!claimed || --claimed->n_classes > 0)
        return;
    HASH_DEL(cluster->claimed_resources, claimed);
    free(claimed);
}

static void drop_selectors(struct cluster *cluster, struct device_class *class)
{
    for (size_t i = 0; i < class->selectors.n; i++)
        string_table_unref(&cluster->shapes->strings, class->texts[i]);
    free(class->texts);
}

static void remove_class(struct cluster *cluster, struct device_class *class)
{
    drop_selectors(cluster, class);
    HASH_DEL(cluster->device_classes, class);
    unref_claimed(cluster, class->claimed);
    free(class->name);
    free(class->driver);
    free(class);
}

void cluster_upsert_device_class(struct cluster *cluster, const char *name, const char *resource)
{
    struct device_class *class = find(cluster, name);
    const bool is_new = !class;
    if (is_new) {
        class = MEM_NEW(struct device_class);
        class->name = mem_strdup(name);
        HASH_ADD_KEYPTR(hh, cluster->device_classes, class->name, strlen(class->name), class);
    }
    class->seen = cluster->relists[CLUSTER_DEVICE_CLASSES];
    if (!is_new && strcmp(class->claimed ? class->claimed->name : "", resource) == 0)
        return;
    unref_claimed(cluster, class->claimed);
    class->claimed = ref_claimed(cluster, resource);
    changes_of_device_classes(cluster);
}

void cluster_set_device_class_driver(struct cluster *cluster, const char *name, const char *driver)
{
    struct device_class *class = find(cluster, name);
    if (strcmp(class->driver ? class->driver : "", driver) == 0)
        return;
    free(class->driver);
    class->driver = driver[0] ? mem_strdup(driver) : NULL;
    cluster->version++;
}

const char *cluster_device_class_driver(const struct cluster *cluster, const char *name)
{
    const struct device_class *class = find(cluster, name);
    return class && class->driver ? class->driver : "";
}

void cluster_set_device_class_selectors(struct cluster *cluster, const char *name,
                                        const struct selector_texts *selectors)
{
    struct device_class *class = find(cluster, name);
    if (selector_texts_equal(&class->selectors, selectors))
        return;
    const char **texts = MEM_ARRAY(const char *, selectors->n);
    for (size_t i = 0; i < selectors->n; i++)
        texts[i] = string_table_intern(&cluster->shapes->strings, selectors->texts[i]);
    drop_selectors(cluster, class);
    class->texts = texts;
    class->selectors = (struct selector_texts){texts, selectors->n, selectors->is_cut};
    cluster->version++;
}

const struct selector_texts *cluster_device_class_selectors(const struct cluster *cluster,
                                                            const char *name)
{
    const struct device_class *class = find(cluster, name);
    return class ? &class->selectors : NULL;
}

uint64_t cluster_device_class_scopes(const struct cluster *cluster, const char *name)
{
    const struct device_class *class = find(cluster, name);
    if (!class || (!class->driver && !class->claimed))
        return 0;
    if (class->driver)
        return claim_usage_scopes(cluster->policy, class->driver);
    return policy_quota_scopes(cluster->policy, class->claimed->name);
}

void cluster_device_classes_copy(struct cluster *to, const struct cluster *from, const char *name)
{
    const struct device_class *class = find(from, name);
    if (!class)
        return;
    cluster_upsert_device_class(to, name, class->claimed ? class->claimed->name : "");
    cluster_set_device_class_driver(to, name, class->driver ? class->driver : "");
    cluster_set_device_class_selectors(to, name, &class->selectors);
    find(to, name)->seen = class->seen;
}

void cluster_delete_device_class(struct cluster *cluster, const char *name)
{
    struct device_class *class = find(cluster, name);
    if (!class)
        return;
    remove_class(cluster, class);
    changes_of_device_classes(cluster);
}

size_t cluster_n_device_classes(const struct cluster *cluster)
{
    return HASH_COUNT(cluster->device_classes);
}

void cluster_device_classes_free_all(struct cluster *cluster)
{
    struct device_class *class = NULL;
    struct device_class *next = NULL;
    HASH_ITER (hh, cluster->device_classes, class, next) {
        remove_class(cluster, class);
    }
}

void cluster_device_classes_sweep(struct cluster *cluster)
{
    struct device_class *class = NULL;
    struct device_class *next = NULL;
    const size_t n_before = cluster_n_device_classes(cluster);
    HASH_ITER (hh, cluster->device_classes, class, next) {
        if (class->seen != cluster->relists[CLUSTER_DEVICE_CLASSES])
            remove_class(cluster, class);
    }
    if (cluster_n_device_classes(cluster) < n_before)
        changes_of_device_classes(cluster);
}

const char *cluster_next_device_class(const struct cluster *cluster, const char *name,
                                      const char **ret_resource)
{
    const struct device_class *next = name ? find(cluster, name)->hh.next : cluster->device_classes;
    if (!next)
        return NULL;
    *ret_resource = next->claimed ? next->claimed->name : "";
    return next->name;
}

void cluster_device_classes_fork(struct cluster *fork, const struct cluster *cluster)
{
    const char *resource = "";
    const char *name = NULL;
    while ((name = cluster_next_device_class(cluster, name, &resource)))
        cluster_upsert_device_class(fork, name, resource);
}

size_t cluster_device_classes_check(const struct cluster *cluster)
{
    size_t n_wrong = 0;
    const struct claimed_resource *claimed = cluster->claimed_resources;
    for (; claimed; claimed = claimed->hh.next) {
        size_t n = 0;
        const struct device_class *class = cluster->device_classes;
        for (; class; class = class->hh.next)
            n += class->claimed == claimed;
        n_wrong += n == 0 || n != claimed->n_classes;
    }
    return n_wrong;
}

bool cluster_device_classes_map(const struct cluster *cluster, const char *resource)
{
    const size_t len = strlen(IMPLICIT);
    if (find_claimed(cluster, resource))
        return true;
    return strncmp(resource, IMPLICIT, len) == 0 && find(cluster, resource + len);
}
