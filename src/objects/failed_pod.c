/* failed_pod: see include/objects/pod.h. */
#include "objects/pod.h"

#include "formats/json_values.h"
#include "objects/identity.h"

#include <errno.h>
#include <string.h>

#define OUT_OF "OutOf"

static const char *text_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_member(object, member));
    return text ? text : "";
}

/* The CPU and memory managers, and the eviction for critical pods, fail with the same reason. */
static bool is_of_devices(const char *message)
{
    static const char *const OTHERS[] = {"[memorymanager]", "[cpumanager]", "not enough cpus",
                                         "pod rejected, ", "admission failure: "};
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++) {
        if (strstr(message, OTHERS[i]))
            return false;
    }
    return true;
}

static enum refusal refusal_of(const json_t *status, const struct policy *policy)
{
    const char *reason = text_of(status, "reason");
    if (strcmp(reason, "TopologyAffinityError") == 0)
        return REFUSAL_TOPOLOGY;
    if (strcmp(reason, "UnexpectedAdmissionError") == 0)
        return is_of_devices(text_of(status, "message")) ? REFUSAL_DEVICES : REFUSAL_OTHER;
    return strncmp(reason, OUT_OF, strlen(OUT_OF)) == 0 &&
                   policy_is_gpu_resource(policy, reason + strlen(OUT_OF))
               ? REFUSAL_GPUS
               : REFUSAL_OTHER;
}

/* A kubelet that accepts a pod reports its containers before it starts any. */
static bool was_taken(const json_t *status)
{
    return json_array_size(json_member(status, "containerStatuses")) > 0 ||
           json_array_size(json_member(status, "initContainerStatuses")) > 0;
}

int failed_pod_from_json(const json_t *object, const struct policy *policy, struct arena *arena,
                         struct failed_pod_facts *ret_facts, struct err *err)
{
    const json_t *status = json_member(object, "status");
    const json_t *annotations = json_member(json_member(object, "metadata"), "annotations");
    struct identity identity;
    int r = identity_from_json(object, arena, &identity, err);
    if (r < 0)
        return r;
    if (!identity.uid[0])
        return err_set(err, EINVAL, "metadata.uid: is missing");
    *ret_facts = (struct failed_pod_facts){
        .uid = identity.uid,
        .refusal = refusal_of(status, policy),
        .has_run = was_taken(status),
        .is_bound_by_us = text_of(annotations, POD_BOUND_BY)[0] != '\0',
    };
    return 0;
}
