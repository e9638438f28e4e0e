/*
 * Reads any text as a Node, a Pod, a manifest, and a Pod's annotations. Nothing crashes, every
 * text in the result is valid in JSON, and no annotation changes a pod's usage.
 */
#include "base/mem.h"
#include "objects/node.h"
#include "objects/pod.h"
#include "objects/workload.h"
#include "require.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require_text(const char *text)
{
    json_t *string = json_string(text);
    require(string != NULL);
    json_decref(string);
}

static void check_demand(const struct shape_facts *shape)
{
    require(shape_demand(shape, "pods") == 1);
    for (size_t i = 0; i < shape->n_demand; i++) {
        require(shape->demand[i].amount > 0);
        require(i == 0 || strcmp(shape->demand[i - 1].resource, shape->demand[i].resource) < 0);
    }
}

static void check_pod(const struct pod_facts *facts)
{
    require_text(facts->uid);
    require_text(facts->name);
    require_text(facts->namespace_);
    require_text(facts->node_name);
    if (facts->refusal)
        require_text(facts->refusal);
    check_demand(&facts->shape);
}

static void check_lines(struct text_list list)
{
    for (size_t i = 0; i < list.n; i++)
        require_text(list.items[i]);
}

static void read_as_node(const json_t *object, const struct policy *policy, struct arena *arena)
{
    struct node_facts facts;
    struct err err;
    if (node_from_json(object, policy, arena, &facts, &err) < 0)
        require_text(err.text);
    else
        require_text(facts.name);
}

static void read_as_pod(const json_t *object, const struct policy *policy, struct arena *arena)
{
    struct pod_facts facts;
    struct err err;
    if (pod_from_json(object, policy, arena, &facts, &err) < 0)
        require_text(err.text);
    else
        check_pod(&facts);
    check_lines(pod_not_evaluated(object, policy, arena));
}

static void read_as_manifest(json_t *object, const struct policy *policy, struct arena *arena)
{
    struct workload_list list = {0};
    struct err err;
    if (workload_from_json(object, policy, arena, &list, &err) < 0)
        require_text(err.text);
    for (size_t i = 0; i < list.n; i++) {
        const struct workload *workload = &list.items[i];
        require_text(workload->kind);
        require_text(workload->name);
        require(workload->replicas >= 0);
        check_lines(workload->not_evaluated);
        if (workload->problem)
            require_text(workload->problem);
        else
            check_pod(&workload->pod);
    }
}

static void read_as_annotations(const char *text, const struct policy *policy, struct arena *arena)
{
    static const char *const KEYS[] = {"scheduler.alpha.kubernetes.io/affinity",
                                       "gpu-extender.io/models", "gpu-extender.io/exclude-models",
                                       "gpu-extender.io/min-gpu-memory",
                                       "yunikorn.apache.org/task-groups"};
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++) {
        json_t *pod = json_pack("{s:{s:{s:s, s:s, s:s}}, s:{s:s, s:[{s:{s:{s:i}}}]}}", "metadata",
                                "annotations", KEYS[i], text, "yunikorn.apache.org/app-id", "a",
                                "yunikorn.apache.org/task-group-name", "b", "spec", "nodeName", "n",
                                "containers", "resources", "limits", "nvidia.com/gpu", 2);
        if (!pod)
            return; /* the text is not UTF-8: no JSON has such an annotation */
        struct pod_facts facts;
        require(pod_from_json(pod, policy, arena, &facts, NULL) == 0);
        require(shape_demand(&facts.shape, "nvidia.com/gpu") == 2);
        check_pod(&facts);
        check_lines(pod_not_evaluated(pod, policy, arena));
        json_decref(pod);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct policy policy;
    policy_init(&policy);
    policy.extended_resource_toleration = size % 2 == 0;
    policy.gangs.mode = GANGS_PLAN;
    policy.gangs.conventions = MEM_NEW(char *);
    policy.gangs.conventions[policy.gangs.n_conventions++] = mem_strdup("yunikorn");
    struct arena *arena = arena_new();
    json_t *object = json_loadb((const char *)data, size, JSON_DECODE_ANY, NULL);
    if (object) {
        read_as_node(object, &policy, arena);
        read_as_pod(object, &policy, arena);
        read_as_manifest(object, &policy, arena);
    }
    json_decref(object);
    read_as_annotations(arena_strndup(arena, (const char *)data, size), &policy, arena);
    arena_free(arena);
    policy_fini(&policy);
    return 0;
}
