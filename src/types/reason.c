/* reason: see include/types/reason.h. */
#include "types/reason.h"

#include <string.h>

#define PREFIX REASON_PREFIX

struct reason_row {
    const char *name;
    const char *message;
    const char *help;
};

static const struct reason_row REASONS[N_REASONS] = {
    [REASON_FITS] = {"fits", PREFIX "the pod fits", ""},
    [REASON_POD_INVALID] = {"pod_invalid", PREFIX "the pod's request is invalid",
                            "correct the field that the message names, and recreate the pod"},
    [REASON_NODE_UNKNOWN] = {"node_unknown", PREFIX "the node is not in the inventory",
                             "wait until the node has registered with the API server"},
    [REASON_GANG_FORMING] = {"gang_forming", PREFIX "the group is not complete",
                             "wait until all pods of the group exist, or correct the size that "
                             "they name (gpu-extender.io/gang-size)"},
    [REASON_GANG_WAITING] = {"gang_waiting", PREFIX "the group does not fit now",
                             "wait: no pod of the group is bound before there is room for all"},
    [REASON_GANG_PLACE] = {"gang_place", PREFIX "the pod's place in its group is on another node",
                           "wait until kube-scheduler offers that node"},
    [REASON_NODE_NAME] = {"node_name", PREFIX "the pod's spec.nodeName names another node",
                          "remove spec.nodeName, or set it to this node"},
    [REASON_UNSCHEDULABLE] = {"unschedulable", PREFIX "the node is cordoned",
                              "uncordon the node (kubectl uncordon)"},
    [REASON_TAINT] = {"taint", PREFIX "the node has a taint that the pod does not tolerate",
                      "add a toleration to the pod, or remove the taint from the node"},
    [REASON_NODE_SELECTOR] = {"node_selector",
                              PREFIX "the node's labels do not match the pod's nodeSelector",
                              "correct the pod's nodeSelector, or label the node"},
    [REASON_NODE_AFFINITY] = {"node_affinity",
                              PREFIX "the node does not match the pod's required node affinity",
                              "correct the pod's node affinity, or label the node"},
    [REASON_LEGACY_AFFINITY] = {"legacy_affinity",
                                PREFIX "the node does not match the pod's annotation "
                                       "scheduler.alpha.kubernetes.io/affinity",
                                "correct the annotation, or label the node"},
    [REASON_QUARANTINE] = {"quarantine", PREFIX "the node is in quarantine",
                           "wait: pods of several namespaces failed on the node, and it is tried "
                           "again later; an operator can lift the quarantine (docs/RUNBOOKS.md)"},
    [REASON_SHAPE_TRAP] = {"shape_trap",
                           PREFIX "the node just rejected such pods, as they do not fit its NUMA "
                                  "layout",
                           "wait until a GPU pod there starts or ends, or ask for fewer GPUs or "
                           "CPUs"},
    [REASON_GPU_ABSENT] = {"gpu_absent", PREFIX "the node has no GPUs of the requested resource",
                           "request a GPU resource that the node has, or check its device plugin"},
    [REASON_GPU_SHARED] = {"gpu_shared", PREFIX "the node shares its GPUs among pods",
                           "if a share of a GPU is enough, set the pod's annotation "
                           "gpu-extender.io/allow-shared to true"},
    [REASON_GPU_MIG] = {"gpu_mig", PREFIX "the node's GPUs are MIG slices, not whole ones",
                        "if a slice is enough, set the pod's annotation "
                        "gpu-extender.io/allow-shared to true, or name the slice in its "
                        "gpu-extender.io/models"},
    [REASON_MODEL_UNKNOWN] = {"model_unknown", PREFIX "the node's GPU model is unknown",
                              "label the node with its GPU model (policy models.labels)"},
    [REASON_MODEL_EXCLUDED] = {"model_excluded", PREFIX "the pod excludes the node's GPU model",
                               "remove the model from the pod's gpu-extender.io/exclude-models"},
    [REASON_MODEL_NOT_WANTED] = {"model_not_wanted",
                                 PREFIX "the node's GPU model is not one that the pod asks for",
                                 "add the model to the pod's gpu-extender.io/models"},
    [REASON_GPU_MEMORY] = {"gpu_memory",
                           PREFIX "the node's GPUs have less memory than the pod asks for",
                           "lower the pod's gpu-extender.io/min-gpu-memory"},
    [REASON_GPU_MEMORY_UNKNOWN] =
        {"gpu_memory_unknown", PREFIX "the memory of the node's GPUs is unknown",
         "label the node with its GPU memory (policy models.units), or remove the pod's "
         "gpu-extender.io/min-gpu-memory"},
    [REASON_GPU_TOTAL] = {"gpu_total", PREFIX "the node has too few GPUs in total",
                          "request fewer GPUs per pod, and use more pods"},
    [REASON_NAMESPACE_UNKNOWN] =
        {"namespace_unknown",
         PREFIX "the pod's namespace is not in the inventory yet, and quotas select by label",
         "wait: the inventory gets a new namespace within moments"},
    [REASON_QUOTA] = {"quota", PREFIX "a quota of the pod's namespace leaves too few GPUs",
                      "wait until pods of the namespaces that share the quota end, or raise the "
                      "quota"},
    [REASON_GPU_FREE] = {"gpu_free", PREFIX "the node has too few free GPUs now",
                         "wait until pods there end, or evict some"},
    [REASON_GPU_NOMINATED] = {"gpu_nominated",
                              PREFIX "the node's free GPUs are kept for a nominated pod",
                              "wait, or give the pod a higher priority than that of the "
                              "nominated one"},
    [REASON_GPU_KEPT] = {"gpu_kept", PREFIX "the node's free GPUs are kept for a group",
                         "wait, or give the pod a higher priority than that of the group"},
    [REASON_QUOTA_CLAIMED] = {"quota_claimed",
                              PREFIX
                              "the rest of the quota is claimed by pods that are being bound",
                              "wait until these pods are bound, or their bindings fail"},
    [REASON_CPU] = {"cpu", PREFIX "the node has too little free CPU",
                    "ask for less CPU, or wait until pods there end"},
    [REASON_MEMORY] = {"memory", PREFIX "the node has too little free memory",
                       "ask for less memory, or wait until pods there end"},
    [REASON_PODS] = {"pods", PREFIX "the node has no free pod slot",
                     "wait until pods there end, or raise the kubelet's maxPods"},
    [REASON_RESOURCE] = {"resource", PREFIX "the node has too little of another resource",
                         "ask for less of the resource, or wait until pods there end"},
    [REASON_TOPOLOGY_SPREAD] =
        {"topology_spread", PREFIX "the pod's hard topology spread constraints rule the node out",
         "make room in the domains with fewer such pods, raise maxSkew, or label the node with "
         "the topology key"},
    [REASON_POD_AFFINITY] = {"pod_affinity",
                             PREFIX "no pod that the pod's required affinity selects is in the "
                                    "node's topology domain",
                             "correct the pod's pod affinity, or first run the pods that it "
                             "selects"},
    [REASON_POD_ANTI_AFFINITY] = {"pod_anti_affinity",
                                  PREFIX "a pod that the pod's required anti-affinity selects is "
                                         "in the node's topology domain",
                                  "add nodes or domains, or make the pod's anti-affinity a "
                                  "preference"},
    [REASON_POD_REPELLED] = {"pod_repelled",
                             PREFIX "a pod in the node's topology domain has required "
                                    "anti-affinity to the pod",
                             "wait until that pod ends, or correct its anti-affinity or the "
                             "labels of this pod"},
    [REASON_CLAIM_MISSING] = {"claim_missing",
                              PREFIX "a resource claim or template that the pod names does not "
                                     "exist",
                              "create it in the pod's namespace, or correct the name; the pod "
                              "waits for it"},
    [REASON_CLAIM_CLASS] = {"claim_class",
                            PREFIX "a DeviceClass that the pod's resource claims name does not "
                                   "exist",
                            "create the class, or correct the name; the pod waits for it"},
    [REASON_CLAIM_ERROR] = {"claim_error",
                            PREFIX "a resource claim of the pod causes an error, so kube-scheduler "
                                   "rejects the pod on all nodes",
                            "correct what the message names, such as a selector"},
    [REASON_CLAIM_HOLDERS] = {"claim_holders",
                              PREFIX "a resource claim of the pod is used by as many pods as are "
                                     "allowed",
                              "at most 256 pods may use a claim: use another claim, or a template, "
                              "which makes a claim for each pod"},
    [REASON_CLAIM_ELSEWHERE] = {"claim_elsewhere",
                                PREFIX "the node cannot reach the devices of a resource claim of "
                                       "the pod",
                                "use another claim: pods run only on nodes that reach the devices "
                                "of their claims"},
    [REASON_CLAIM_TOTAL] = {"claim_total",
                            PREFIX "the node has too few devices that the pod's resource claims "
                                   "may use",
                            "ask for fewer devices, or correct the selectors and constraints; "
                            "deviceRequests of a dry run says how many devices match each request"},
    [REASON_CLAIM_TAINTED] = {"claim_tainted",
                              PREFIX "taints keep the pod's resource claims off devices of the "
                                     "node",
                              "add a toleration to the claim's request, as tolerations of the pod "
                              "do not count; or remove the taint"},
    [REASON_CLAIM_FREE] = {"claim_free",
                           PREFIX "too few of the node's devices that the pod's resource claims "
                                  "may use are free now",
                           "wait until claims there are deleted: no pod is evicted for devices"},
    [REASON_CLAIM_NOT_JUDGED] = {"claim_not_judged",
                                 PREFIX "the pod's resource claims are not judged on the node",
                                 "see docs/DRA.md for what is not judged; kube-scheduler decides"},
};

const char *reason_name(enum reason reason)
{
    return REASONS[reason].name;
}

const char *reason_message(enum reason reason)
{
    return REASONS[reason].message;
}

const char *reason_text(enum reason reason)
{
    return REASONS[reason].message + strlen(PREFIX);
}

const char *reason_help(enum reason reason)
{
    return REASONS[reason].help;
}
