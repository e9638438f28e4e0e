/* scheduler_extenders: see scheduler_extenders.h. */
#include "scheduler_extenders.h"
#include "base/mem.h"
#include "base/table.h"
#include "config/syntax.h"
#include "formats/json_get.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RESOURCES "managedResources"
#define PATH_BYTES 80

/* A name of managedResources, and the extender that lists it first. */
struct managed {
    UT_hash_handle hh;
    const char *name;
    size_t extender;
};

struct extender_walk {
    const struct scheduler_checks *checks;
    struct managed *managed;
    size_t n_binders;
    size_t index; /* of the extender */
    json_t *extender;
};

/* Its quota is named REQUESTS NAME, so the domain must be shorter. */
#define REQUESTS "requests."
#define DOMAIN_LEN_MAX (253 - strlen(REQUESTS))

bool scheduler_extenders_may_manage(const char *resource)
{
    return !syntax_whole_resource(resource) && strcspn(resource, "/") <= DOMAIN_LEN_MAX &&
           !strstr(resource, "kubernetes.io/") &&
           strncmp(resource, REQUESTS, strlen(REQUESTS)) != 0;
}

static void check_weight(const struct extender_walk *walk)
{
    const json_t *weight = json_object_get(walk->extender, "weight");
    struct scheduler_checks of_this = *walk->checks;
    if (!*scheduler_text(walk->extender, "prioritizeVerb") ||
        (weight && !json_is_integer(weight)) || json_integer_value(weight) > 0)
        return;
    of_this.index = walk->index;
    of_this.ours = walk->extender;
    scheduler_report(&of_this, FINDING_FAIL, "weight", "set the weight of the policy",
                     "is %" PRId64 ", should be positive beside prioritizeVerb: kube-scheduler "
                     "does not start",
                     (int64_t)json_integer_value(weight));
}

/* One set of names over all extenders. */
static void take_name(struct extender_walk *walk, const struct yaml_value *at, const char *name)
{
    struct managed *first = NULL;
    if (!scheduler_extenders_may_manage(name))
        scheduler_report_at(walk->checks, FINDING_FAIL, RESOURCES, at,
                            "kube-scheduler does not start: list whole names, or take all pods "
                            "(manifests/kube-scheduler-config-all-pods.yaml)",
                            "%s: should be the whole name of an extended resource, such as "
                            "nvidia.com/gpu, and not of kubernetes.io",
                            name);
    HASH_FIND_STR(walk->managed, name, first);
    if (first && first->extender == walk->index)
        scheduler_report_at(walk->checks, FINDING_FAIL, RESOURCES, at,
                            "kube-scheduler does not start: remove one", "%s: is listed twice",
                            name);
    else if (first)
        scheduler_report_at(walk->checks, FINDING_FAIL, RESOURCES, at,
                            "kube-scheduler does not start: only one extender may manage a "
                            "resource",
                            "%s: extenders[%zu] manages it, too", name, first->extender);
    if (first)
        return;
    first = MEM_NEW(struct managed);
    *first = (struct managed){.name = name, .extender = walk->index};
    HASH_ADD_KEYPTR(hh, walk->managed, name, strlen(name), first);
}

static void check_resources(struct extender_walk *walk)
{
    json_t *list = json_object_get(walk->extender, RESOURCES);
    size_t i = 0;
    json_t *item = NULL;
    json_array_foreach (list, i, item) {
        const char *name = json_string_value(json_object_get(item, "name"));
        char index[24];
        char path[PATH_BYTES];
        (void)snprintf(index, sizeof index, "%zu", i);
        (void)snprintf(path, sizeof path, "extenders[%zu]." RESOURCES "[%zu]", walk->index, i);
        const struct yaml_value at = {list, index, path, item};
        if (json_is_object(item))
            take_name(walk, &at, name ? name : "");
    }
}

static void free_names(struct managed *managed)
{
    struct managed *item = NULL;
    struct managed *next = NULL;
    HASH_ITER (hh, managed, item, next) {
        HASH_DEL(managed, item);
        free(item);
    }
}

void scheduler_extenders_check(const struct scheduler_checks *checks)
{
    struct extender_walk walk = {.checks = checks};
    const struct yaml_value at = {checks->file->root, "extenders", "extenders", checks->extenders};
    json_array_foreach (checks->extenders, walk.index, walk.extender) {
        check_weight(&walk);
        check_resources(&walk);
        walk.n_binders += *scheduler_text(walk.extender, "bindVerb") != '\0';
    }
    if (walk.n_binders > 1)
        scheduler_report_at(checks, FINDING_FAIL, "binders", &at,
                            "kube-scheduler does not start: remove bindVerb from the others",
                            "%zu extenders have a bindVerb, only one may", walk.n_binders);
    free_names(walk.managed);
}
