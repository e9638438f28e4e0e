/*
 * cluster_device_classes: the extended resources that kube-scheduler would allocate by a claim. See
 * include/ledger/cluster.h.
 *
 * Source: Kubernetes' DRAExtendedResource (KEP-5004): spec.extendedResourceName, and for every
 * class the name deviceclass.resource.kubernetes.io/CLASS (PROTOCOL 11.2).
 */
#include "base/mem.h"
#include "ledger/ledger.h"

#include <stdlib.h>
#include <string.h>

#define IMPLICIT "deviceclass.resource.kubernetes.io/"

struct device_class {
    struct kept kept;
    char *driver; /* NULL: not known */
    struct selector_texts selectors;
    const char **texts;               /* of selectors, interned */
    struct claimed_resource *claimed; /* NULL: only its implicit name */
    char name[];
};

/* A resource that device classes map. */
struct claimed_resource {
    size_t n_classes;
    UT_hash_handle hh;
    char name[];
};

static struct device_class *class_of(const struct kept *object)
{
    return object ? CONTAINER_OF(object, struct device_class, kept) : NULL;
}

static struct device_class *find(const struct cluster *cluster, const char *name)
{
    return class_of(kept_find(cluster, CLUSTER_DEVICE_CLASSES, name));
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

void cluster_device_classes_let_go(struct cluster *cluster, struct kept *object)
{
    struct device_class *class = class_of(object);
    drop_selectors(cluster, class);
    unref_claimed(cluster, class->claimed);
    free(class->driver);
}

static const char *resource_of(const struct device_class *class)
{
    return class->claimed ? class->claimed->name : "";
}

static const char *driver_of(const struct device_class *class)
{
    return class->driver ? class->driver : "";
}

static void set_resource(struct cluster *cluster, struct device_class *class, const char *resource)
{
    unref_claimed(cluster, class->claimed);
    class->claimed = ref_claimed(cluster, resource);
    changes_of_device_classes(cluster);
}

static void set_driver(struct cluster *cluster, struct device_class *class, const char *driver)
{
    free(class->driver);
    class->driver = driver[0] ? mem_strdup(driver) : NULL;
    cluster->version++;
}

static void set_selectors(struct cluster *cluster, struct device_class *class,
                          const struct selector_texts *selectors)
{
    const char **texts = MEM_ARRAY(const char *, selectors->n);
    for (size_t i = 0; i < selectors->n; i++)
        texts[i] = string_table_intern(&cluster->shapes->strings, selectors->texts[i]);
    drop_selectors(cluster, class);
    class->texts = texts;
    class->selectors = (struct selector_texts){texts, selectors->n, selectors->is_cut};
    cluster->version++;
}

void cluster_upsert_device_class(struct cluster *cluster, const struct device_class_facts *facts)
{
    const char *resource = facts->resource ? facts->resource : "";
    const char *driver = facts->driver ? facts->driver : "";
    struct kept *object = kept_see(cluster, CLUSTER_DEVICE_CLASSES, facts->name);
    struct device_class *class =
        object ? class_of(object) : MEM_NEW_WITH_TEXT(struct device_class, name, facts->name);
    if (!object)
        kept_add(cluster, CLUSTER_DEVICE_CLASSES, &class->kept, class->name);
    if (!object || strcmp(resource_of(class), resource) != 0)
        set_resource(cluster, class, resource);
    if (strcmp(driver_of(class), driver) != 0)
        set_driver(cluster, class, driver);
    if (!selector_texts_equal(&class->selectors, &facts->selectors))
        set_selectors(cluster, class, &facts->selectors);
}

const void *cluster_device_classes_facts(const struct kept *object, struct arena *arena)
{
    const struct device_class *class = class_of(object);
    struct device_class_facts *facts = ARENA_NEW(arena, struct device_class_facts);
    *facts = (struct device_class_facts){
        arena_strdup(arena, class->name), arena_strdup(arena, resource_of(class)),
        arena_strdup(arena, driver_of(class)), selector_texts_copy(&class->selectors, arena)};
    return facts;
}

const char *cluster_device_class_driver(const struct cluster *cluster, const char *name)
{
    const struct device_class *class = find(cluster, name);
    return class ? driver_of(class) : "";
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

void cluster_device_classes_fork(struct cluster *fork, const struct cluster *cluster)
{
    const struct kept *object = cluster->kept[CLUSTER_DEVICE_CLASSES].first;
    for (; object; object = object->hh.next) {
        const struct device_class *class = class_of(object);
        cluster_upsert_device_class(
            fork, &(struct device_class_facts){class->name, .resource = resource_of(class)});
    }
}

size_t cluster_device_classes_check(const struct cluster *cluster)
{
    size_t n_wrong = 0;
    const struct claimed_resource *claimed = cluster->claimed_resources;
    for (; claimed; claimed = claimed->hh.next) {
        size_t n = 0;
        const struct kept *object = cluster->kept[CLUSTER_DEVICE_CLASSES].first;
        for (; object; object = object->hh.next)
            n += class_of(object)->claimed == claimed;
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
