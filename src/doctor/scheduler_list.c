/* scheduler_list: managedResources of our extender, which decide which pods come. */
#include "scheduler_list.h"
#include "base/mem.h"
#include "base/table.h"
#include "formats/json_get.h"
#include "scheduler_extenders.h"
#include "types/policy.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST "managedResources"
#define NAMES_MAX 300

/* A name of the list. */
struct listed {
    UT_hash_handle hh;
    const char *name;
};

static void check_item(const struct scheduler_checks *checks, const struct yaml_value *at,
                       const char *name)
{
    if (scheduler_extenders_may_manage(name) &&
        !policy_is_gpu_resource(&checks->settings->policy, name))
        scheduler_report_at(checks, FINDING_WARN, LIST, at,
                            "add it to gpuResources of the policy, or remove it here",
                            "%s: is not in gpuResources of the policy: gpu-extender does not "
                            "count it as a GPU",
                            name);
    if (json_is_true(json_object_get(at->value, "ignoredByScheduler")))
        scheduler_report_at(checks, FINDING_FAIL, LIST, at, "set ignoredByScheduler to false",
                            "%s: ignoredByScheduler is true: kube-scheduler offers full nodes, "
                            "and filter answers Errors",
                            name);
}

static struct listed *find(struct listed *listed, const char *name)
{
    struct listed *found = NULL;
    HASH_FIND_STR(listed, name, found);
    return found;
}

static void take_item(const struct scheduler_checks *checks, const struct yaml_value *at,
                      struct listed **listed)
{
    const char *name = json_string_value(json_object_get(at->value, "name"));
    if (!name || find(*listed, name))
        return;
    struct listed *item = MEM_NEW(struct listed);
    item->name = name;
    HASH_ADD_KEYPTR(hh, *listed, name, strlen(name), item);
    check_item(checks, at, name);
}

static struct listed *take_items(const struct scheduler_checks *checks, json_t *list)
{
    struct listed *listed = NULL;
    struct scheduler_item item;
    for (size_t i = 0; i < json_array_size(list); i++) {
        scheduler_item_place(&item, list, i, LIST);
        take_item(checks, &item.at, &listed);
    }
    return listed;
}

static void free_items(struct listed *listed)
{
    struct listed *item = NULL;
    struct listed *next = NULL;
    HASH_ITER (hh, listed, item, next) {
        HASH_DEL(listed, item);
        free(item);
    }
}

/* Names of the policy that could be listed and are not. Patterns could not. */
static void check_missing(const struct scheduler_checks *checks, struct listed *listed)
{
    const struct policy *policy = &checks->settings->policy;
    struct buf missing;
    buf_init(&missing, NAMES_MAX);
    for (size_t i = 0; i < policy->n_gpu_resources; i++) {
        const char *name = policy->gpu_resources[i];
        if (scheduler_extenders_may_manage(name) && !find(listed, name))
            buf_printf(&missing, "%s%s", missing.len > 0 ? ", " : "", name);
    }
    if (missing.len > 0)
        scheduler_report(checks, FINDING_WARN, LIST,
                         "list them, or remove them from gpuResources of the policy",
                         "does not list %s: pods that ask for no other GPUs bypass gpu-extender",
                         buf_text(&missing));
    else
        scheduler_report(checks, FINDING_OK, LIST, "",
                         "lists the names of gpuResources (%u in all)", HASH_COUNT(listed));
    buf_fini(&missing);
}

void scheduler_list_check(const struct scheduler_checks *checks)
{
    json_t *list = json_member(checks->ours, LIST);
    const bool all_pods = checks->settings->policy.all_pods;
    if (json_array_size(list) > 0) {
        struct listed *listed = take_items(checks, list);
        if (all_pods)
            scheduler_report(checks, FINDING_FAIL, LIST, "remove scheduler.allPods from the policy",
                             "is set, so kube-scheduler sends only pods that ask for these "
                             "resources, and scheduler.allPods of the policy is true");
        check_missing(checks, listed);
        free_items(listed);
    } else if (!all_pods) {
        scheduler_report(checks, FINDING_FAIL, LIST,
                         "list the GPU resources, or set scheduler.allPods in the policy",
                         "is missing, so kube-scheduler sends every pod, and schedules none while "
                         "gpu-extender is down");
    } else {
        scheduler_report(checks, FINDING_OK, LIST, "",
                         "is missing, as scheduler.allPods of the policy says");
    }
}

bool scheduler_list_manages(const struct scheduler_file *file, const char *resource)
{
    const json_t *list = json_member(file->ours, LIST);
    size_t i = 0;
    const json_t *item = NULL;
    bool is_listed = json_array_size(list) == 0;
    json_array_foreach (list, i, item) {
        const char *name = json_string_value(json_object_get(item, "name"));
        is_listed = is_listed || (name && strcmp(name, resource) == 0);
    }
    return is_listed;
}
