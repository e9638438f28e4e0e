/* settings: each fault of a policy file, with its exact position and message. */
#include "config/settings.h"
#include "fault_table.h"

#include <string.h>

/* Two lines, so a case begins at line 3. */
#define HEAD "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\n"

#define RIGHT_RESOURCE                                                                             \
    "should be a resource name DOMAIN/NAME, such as nvidia.com/gpu, where '*' may only be the "    \
    "last character, as in nvidia.com/mig-*"
#define RIGHT_ADDRESS                                                                              \
    "should be ADDR:PORT with an IP address, such as \"127.0.0.1:8888\" or \"[::1]:8888\""
#define RIGHT_MODEL                                                                                \
    "should be the name of a GPU model, such as A100-80GB (a brand alone is no model)"

static void check_faults(void **state)
{
    const struct fault_table *table = *state;
    for (size_t i = 0; i < table->n; i++) {
        const struct fault *fault = &table->faults[i];
        struct settings settings;
        struct err err = {.text = "p.yaml:(no message)"};
        settings_init(&settings);
        int r = settings_read_text(&settings, "p.yaml", fault->text, strlen(fault->text), &err);
        settings_fini(&settings);
        if (r != -EINVAL)
            fail_msg("returned %d, should be -EINVAL, for:\n%s", r, fault->text);
        assert_memory_equal(err.text, "p.yaml:", 7);
        assert_string_equal(err.text + 7, fault->message);
    }
}

static const struct fault HEADS[] = {
    {"", "1:1: apiVersion: is missing, should be gpu-extender.io/v1alpha1"},
    {"# nothing\n", "1:1: apiVersion: is missing, should be gpu-extender.io/v1alpha1"},
    {"kind: SchedulerPolicy\n", "1:1: apiVersion: is missing, should be gpu-extender.io/v1alpha1"},
    {"apiVersion: gpu-extender.io/v1alpha1\n", "1:1: kind: is missing, should be SchedulerPolicy"},
    {"apiVersion: gpu-extender.io/v1alpha1\nkind:\n",
     "2:1: kind: is missing, should be SchedulerPolicy"},
    {"bogus: 1\nkind: Policy\napiVersion: v1\n",
     "3:13: apiVersion: is the string \"v1\", should be gpu-extender.io/v1alpha1"},
    {"bogus: 1\nkind: Policy\napiVersion: gpu-extender.io/v1alpha1\n",
     "2:7: kind: is the string \"Policy\", should be SchedulerPolicy"},
    {"apiVersion: 1\nkind: SchedulerPolicy\n",
     "1:13: apiVersion: is the number 1, should be gpu-extender.io/v1alpha1"},
    {"just text\n",
     "1:1: policy: is the string \"just text\", should be a mapping with apiVersion, kind "
     "and more"},
    {"[1, 2]\n", "1:1: policy: is an array, should be a mapping with apiVersion, kind and more"},
};

static const struct fault UNKNOWN_KEYS[] = {
    {HEAD "gpuResource: [a/b]\n", "3:1: gpuResource: unknown key; did you mean gpuResources?"},
    {HEAD "GPUResources: [a/b]\n", "3:1: GPUResources: unknown key; did you mean gpuResources?"},
    {HEAD "limit: {}\n", "3:1: limit: unknown key; did you mean limits?"},
    {HEAD "limits:\n  nodes: 3\n  pod: 4\n", "5:3: limits.pod: unknown key; did you mean pods?"},
    {HEAD "nodes: 3\n", "3:1: nodes: unknown key; did you mean nodes in limits?"},
    {HEAD "limits.nodes: 3\n", "3:1: limits.nodes: unknown key; did you mean nodes in limits?"},
    {HEAD "limits: {gpuResources: []}\n",
     "3:10: limits.gpuResources: unknown key; did you mean gpuResources, outside of limits?"},
    {HEAD "listen: {frontend: 1}\n",
     "3:10: listen.frontend: unknown key; known here: verbs, people, probes, insecureVerbs, "
     "insecurePeople"},
    {HEAD "tls: {verbClients: {name: [a]}}\n",
     "3:21: tls.verbClients.name: unknown key; did you mean names?"},
    {HEAD "scheduling:\n", "3:1: scheduling: unknown key; did you mean scheduler?"},
    {HEAD "\"two\\nlines\": 1\n",
     "3:1: \"two\\nlines\": unknown key; known here: apiVersion, kind, mode, enforceNamespaces, "
     "listen, tls, "
     "authentication, aggregatedAPI, gpuResources, "
     "models, deviceDrivers, admission, sharing, topology, placement, slotPrice, quarantine, "
     "shapeTrap, "
     "quotas, "
     "scheduler, filter, gangs, "
     "kubernetes, "
     "leaderElection, wake, decisions, limits"},
    {HEAD "\"\": 1\n",
     "3:1: \"\": unknown key; known here: apiVersion, kind, mode, enforceNamespaces, listen, tls, "
     "authentication, aggregatedAPI, gpuResources, "
     "models, deviceDrivers, admission, sharing, topology, placement, slotPrice, quarantine, "
     "shapeTrap, "
     "quotas, "
     "scheduler, filter, gangs, "
     "kubernetes, "
     "leaderElection, wake, decisions, limits"},
};

static const struct fault ENFORCED[] = {
    {HEAD "enforceNamespaces: {}\n", "3:20: enforceNamespaces: needs mode: observe; with mode: "
                                     "enforce every namespace is enforced"},
    {HEAD "mode: observe\nenforceNamespaces: [a]\n",
     "4:20: enforceNamespaces: is an array, should be a mapping"},
    {HEAD "mode: observe\nenforceNamespaces: {team: a}\n",
     "4:21: enforceNamespaces.team: unknown key; known here: matchLabels, matchExpressions"},
    {HEAD "mode: observe\nenforceNamespaces: {matchLabels: {team: 1}}\n",
     "4:41: enforceNamespaces.matchLabels.team: is the number 1, should be a string"},
};

/* quotas[0] with one limit; a case replaces one part. */
#define QUOTA(name, who, limits)                                                                   \
    HEAD "quotas:\n- name: " name "\n  " who "\n  limits:\n  - " limits "\n"
#define LIMITS(limits) QUOTA("a", "namespaces: [a]", limits)
#define SELECTS(selector) QUOTA("a", "namespaceSelector: " selector, "{total: 1}")
#define RIGHT_NAME "should be a name of at most 63 small letters, digits and '-', such as team-a"

static const struct fault QUOTAS[] = {
    {HEAD "quotas: {a: 1}\n", "3:9: quotas: is an object, should be a list of quotas"},
    {HEAD "quotas: [a]\n", "3:10: quotas[0]: is the string \"a\", should be a mapping"},
    {HEAD "quotas: [{names: a}]\n", "3:11: quotas[0].names: unknown key; did you mean name?"},
    {HEAD "quotas: [{teams: a}]\n",
     "3:11: quotas[0].teams: unknown key; known here: name, namespaces, namespaceSelector, "
     "limits"},
    {HEAD "quotas: [{namespaces: [a], limits: [{total: 1}]}]\n",
     "3:10: quotas[0]: should have a name"},
    {QUOTA("Team_A", "namespaces: [a]", "{total: 1}"),
     "4:9: quotas[0].name: is the string \"Team_A\", " RIGHT_NAME},
    {QUOTA("a", "namespaces: []", "{total: 1}"),
     "5:15: quotas[0].namespaces: is empty, should be a list of strings, at least one"},
    {QUOTA("a", "namespaces: [a, b, a]", "{total: 1}"),
     "5:22: quotas[0].namespaces[2]: is \"a\", a duplicate of quotas[0].namespaces[0], should "
     "be listed once"},
    {QUOTA("a", "namespaces:", "{total: 1}"),
     "4:3: quotas[0]: should have namespaces or namespaceSelector ({} is every namespace)"},
    {HEAD "quotas: [{name: a, namespaces: [a]}]\n", "3:10: quotas[0]: should have limits"},
    {HEAD "quotas: [{name: a, namespaces: [a], limits: []}]\n",
     "3:45: quotas[0].limits: is empty, should be a list of limits, at least one"},
    {QUOTA("a", "namespaces: [a]", "{total: 1}") "- name: a\n",
     "8:9: quotas[1].name: is \"a\", the name of quotas[0], should be unique"},
    {LIMITS("{resource: nvidia.com/gpu}"),
     "7:5: quotas[0].limits[0]: limits nothing, should have total or models"},
    {LIMITS("{models: {}}"),
     "7:5: quotas[0].limits[0]: limits nothing, should have total or models"},
    {LIMITS("{total: -1}"), "7:13: quotas[0].limits[0].total: is the number -1, should be a "
                            "whole number of GPUs from 0 to 1000000"},
    {LIMITS("{total: {borrow: {limit: 1, maxPriority: 0}}}"),
     "7:13: quotas[0].limits[0].total: should have limit, the guaranteed GPUs"},
    {LIMITS("{total: {limit: 1, borrow: {limit: 1}}}"),
     "7:32: quotas[0].limits[0].total.borrow: should have limit and maxPriority"},
    {LIMITS("{total: {limit: 1, borrow: {limit: 1, maxPriority: 3000000000}}}"),
     "7:56: quotas[0].limits[0].total.borrow.maxPriority: is the number 3000000000, should be a "
     "whole number from -2147483648 to 2147483647"},
    {LIMITS("{models: {H100: {limit: 1, borrow: {limit: -1, maxPriority: 0}}}}"),
     "7:48: quotas[0].limits[0].models.H100.borrow.limit: is the number -1, should be a whole "
     "number of GPUs from 0 to 1000000"},
    {LIMITS("{models: {H100: 1.5}}"), "7:21: quotas[0].limits[0].models.H100: is the number "
                                      "1.5, should be a whole number of "
                                      "GPUs from 0 to 1000000"},
    {LIMITS("{models: {H100: }}"),
     "7:21: quotas[0].limits[0].models.H100: is null, should be a whole number of GPUs from 0 "
     "to 1000000"},
    {LIMITS("{models: {nvidia: 1}}"),
     "7:15: quotas[0].limits[0].models.nvidia: is not a GPU model, should be a name such as "
     "A100-80GB (a brand alone is no model)"},
    {LIMITS("{models: {A100: 1, Tesla-A100: 2}}"),
     "7:24: quotas[0].limits[0].models.Tesla-A100: is the same model as A100, should be listed "
     "once"},
    {LIMITS("{resource: cpu, total: 1}"),
     "7:16: quotas[0].limits[0].resource: is the string \"cpu\", " RIGHT_RESOURCE},
    {LIMITS("{resource: a.b/c, total: 1}") "gpuResources: [a.b/d]\n",
     "7:16: quotas[0].limits[0].resource: is the string \"a.b/c\", should be one of "
     "gpuResources"},
    {LIMITS("{total: 1}\n  - {total: 2}"),
     "8:5: quotas[0].limits[1]: is for all GPU resources, which already has limits in this "
     "quota, should be listed once"},
};

static const struct fault SELECTORS_OF_QUOTAS[] = {
    {SELECTS("{labels: {a: b}}"),
     "5:23: quotas[0].namespaceSelector.labels: unknown key; known here: matchLabels, "
     "matchExpressions"},
    {SELECTS("{matchLabels: {a: 1}}"),
     "5:40: quotas[0].namespaceSelector.matchLabels.a: is the number 1, should be a string"},
    {SELECTS("{matchLabels: {a b: c}}"), "5:37: \"quotas[0].namespaceSelector.matchLabels.a "
                                         "b\": is not a label key, should be a label "
                                         "key, such as nvidia.com/gpu.product or accelerator"},
    {SELECTS("{matchExpressions: [{key: a}]}"),
     "5:42: quotas[0].namespaceSelector.matchExpressions[0]: should have key and operator"},
    {SELECTS("{matchExpressions: [{key: a, operator: Gt}]}"),
     "5:61: quotas[0].namespaceSelector.matchExpressions[0].operator: is the string \"Gt\", "
     "should be In, NotIn, Exists or DoesNotExist"},
    {SELECTS("{matchExpressions: [{key: a, operator: In}]}"),
     "5:42: quotas[0].namespaceSelector.matchExpressions[0]: should have values, as the "
     "operator is In or NotIn"},
    {SELECTS("{matchExpressions: [{key: a, operator: Exists, values: [b]}]}"),
     "5:42: quotas[0].namespaceSelector.matchExpressions[0]: should have no values, as the "
     "operator is Exists or DoesNotExist"},
};

#define WRONG_DECIMAL "should be a number from 0 to 100 with at most three decimals"

static const struct fault DECIMALS[] = {
    {HEAD "slotPrice: {drainWeight: 0.0001}\n",
     "3:26: slotPrice.drainWeight: is the number 0.0001, " WRONG_DECIMAL},
    {HEAD "slotPrice: {drainWeight: 100.001}\n",
     "3:26: slotPrice.drainWeight: is the number 100.001, " WRONG_DECIMAL},
    {HEAD "slotPrice: {drainWeight: -1}\n",
     "3:26: slotPrice.drainWeight: is the number -1, " WRONG_DECIMAL},
    {HEAD "slotPrice: {drainWeight: 1e3}\n",
     "3:26: slotPrice.drainWeight: is the number 1000, " WRONG_DECIMAL},
    {HEAD "slotPrice: {drainWeight: 1.5x}\n",
     "3:26: slotPrice.drainWeight: is the string \"1.5x\", " WRONG_DECIMAL},
    {HEAD "slotPrice: {drainWeight: yes}\n",
     "3:26: slotPrice.drainWeight: is true, " WRONG_DECIMAL},
    {HEAD "slotPrice: {priorGpus: 0}\n",
     "3:24: slotPrice.priorGpus: is the number 0, should be a number from 1 to 1000000 with at "
     "most three decimals"},
};

static const struct fault TYPES[] = {
    {HEAD "listen: 127.0.0.1:8888\n",
     "3:9: listen: is the string \"127.0.0.1:8888\", should be a mapping of verbs, people, "
     "probes, insecureVerbs, insecurePeople"},
    {HEAD "tls: {verbClients: [a]}\n",
     "3:20: tls.verbClients: is an array, should be a mapping of names, organizations"},
    {HEAD "tls: {verbClients: {names: a}}\n",
     "3:28: tls.verbClients.names: is the string \"a\", should be a list of strings"},
    {HEAD "tls: {peopleClients: {organizations: [a, '']}}\n",
     "3:42: tls.peopleClients.organizations[1]: is the string \"\", should be a string that is "
     "not empty"},
    {HEAD "tls: {verbClients: {names: [7]}}\n",
     "3:29: tls.verbClients.names[0]: is the number 7, should be a string that is not empty"},
    {HEAD "tls: {certificateFile: 7}\n",
     "3:24: tls.certificateFile: is the number 7, should be a string, in quotes"},
    {HEAD "limits: [1]\n",
     "3:9: limits: is an array, should be a mapping of requestBytes, userRequestBytes, "
     "userRequestValues, userRequestTreeBytes, bodiesBytes, requestSeconds, connections, "
     "clusterFileBytes, objectBytes, objectValues, nodes, pods, podShapeBytes, podShapesBytes, "
     "nodeSlicesBytes, driverSlicesBytes, slicesBytes, "
     "dryRunReplicas"},
    {HEAD "listen:\n  verbs: 8888\n",
     "4:10: listen.verbs: is the number 8888, should be a string, in quotes"},
    {HEAD "listen:\n  verbs: [\"::1\"]\n", "4:10: listen.verbs: is an array, should be a string"},
    {HEAD "gpuResources: nvidia.com/gpu\n",
     "3:15: gpuResources: is the string \"nvidia.com/gpu\", should be a list of names"},
    {HEAD "gpuResources:\n- nvidia.com/gpu\n- 7\n",
     "5:3: gpuResources[1]: is the number 7, should be a string, in quotes"},
    {HEAD "gpuResources: [null]\n", "3:16: gpuResources[0]: is null, should be a string"},
    {HEAD "models:\n  aliases: [a]\n",
     "4:12: models.aliases: is an array, should be a mapping of names to model names"},
    {HEAD "models:\n  aliases:\n    big: 4090\n",
     "5:10: models.aliases.big: is the number 4090, should be a string, in quotes"},
    {HEAD "admission: {extendedResourceToleration: \"true\"}\n",
     "3:41: admission.extendedResourceToleration: is the string \"true\", should be true or "
     "false"},
    {HEAD "placement:\n  policy: [binpack]\n",
     "4:11: placement.policy: is an array, should be slot-price or binpack or spread or fgd"},
    {HEAD "limits:\n  nodes: 1.5\n",
     "4:10: limits.nodes: is the number 1.5, should be a whole number from 1 to 1000000"},
    {HEAD "limits:\n  nodes: \"5\"\n",
     "4:10: limits.nodes: is the string \"5\", should be a whole number from 1 to 1000000"},
    {HEAD "limits:\n  requestBytes: true\n",
     "4:17: limits.requestBytes: is true, should be bytes from 1Ki to 1Gi, such as 67108864 "
     "or 64Mi"},
};

static const struct fault RANGES_AND_SPELLINGS[] = {
    {HEAD "limits: {connections: 0}\n",
     "3:23: limits.connections: is the number 0, should be a whole number from 1 to 65536"},
    {HEAD "limits: {connections: 65537}\n",
     "3:23: limits.connections: is the number 65537, should be a whole number from 1 to 65536"},
    {HEAD "limits: {pods: -1}\n",
     "3:16: limits.pods: is the number -1, should be a whole number from 1 to 10000000"},
    {HEAD "limits: {objectBytes: 65Mi}\n",
     "3:23: limits.objectBytes: is the string \"65Mi\", should be bytes from 1Ki to 64Mi, such "
     "as 67108864 or 64Mi"},
    {HEAD "limits: {objectBytes: 1023}\n",
     "3:23: limits.objectBytes: is the number 1023, should be bytes from 1Ki to 64Mi, such "
     "as 67108864 or 64Mi"},
    {HEAD "limits: {requestBytes: 64MB}\n",
     "3:24: limits.requestBytes: is the string \"64MB\", should be bytes from 1Ki to 1Gi, such "
     "as 67108864 or 64Mi"},
    {HEAD "limits: {requestBytes: 2048.5}\n",
     "3:24: limits.requestBytes: is the number 2048.5, should be bytes from 1Ki to 1Gi, "
     "such as 67108864 or 64Mi"},
    {HEAD "limits: {bodiesBytes: 127Mi}\n",
     "3:23: limits.bodiesBytes: bodiesBytes is 133169152, should be at least twice "
     "requestBytes (67108864)"},
    {HEAD "limits: {requestBytes: 129Mi}\n",
     "3:24: limits.requestBytes: bodiesBytes is 268435456, should be at least twice "
     "requestBytes (135266304)"},
    {HEAD "limits: {requestSeconds: 0}\n",
     "3:26: limits.requestSeconds: is the number 0, should be a whole number from 1 to 600"},
    {HEAD "listen:\n  people: localhost:8888\n",
     "4:11: listen.people: is the string \"localhost:8888\", " RIGHT_ADDRESS},
    {HEAD "gpuResources: [nvidia.com/gpu, gpu]\n",
     "3:32: gpuResources[1]: is the string \"gpu\", " RIGHT_RESOURCE},
    {HEAD "gpuResources: [nvidia.com/*-mig]\n",
     "3:16: gpuResources[0]: is the string \"nvidia.com/*-mig\", " RIGHT_RESOURCE},
    {HEAD "gpuResources: [\"a/b\\0c\"]\n",
     "3:16: gpuResources[0]: is the string \"a/b\ufffdc\", " RIGHT_RESOURCE},
    {HEAD "models: {labels: [a b]}\n",
     "3:19: models.labels[0]: is the string \"a b\", should be a label key, such as "
     "nvidia.com/gpu.product or accelerator"},
    {HEAD "models: {aliases: {big one: nvidia}}\n",
     "3:29: \"models.aliases.big one\": is the string \"nvidia\", " RIGHT_MODEL},
    {HEAD "models: {aliases: {--: A100}}\n",
     "3:20: models.aliases.--: is not an alias, should be the text of a label value, with at "
     "least one letter or digit"},
    {HEAD "models:\n  aliases:\n    big one: A100\n    other: H100\n    BIG_one: A100\n",
     "7:5: models.aliases.BIG_one: is the same name as big one, should be listed once (case and "
     "separators do not count)"},
    {HEAD "placement: {policy: Binpack}\n",
     "3:21: placement.policy: is the string \"Binpack\", should be slot-price or binpack or "
     "spread or fgd"},
};

static const struct fault DRIVERS[] = {
    {HEAD "models: {units: {}}\n", "3:17: models.units: is an object, should be a list of rows"},
    {HEAD "models:\n  units:\n  - {resource: gpu}\n",
     "5:16: models.units[0].resource: is the string \"gpu\", should be a resource name "
     "DOMAIN/NAME, "
     "such as nvidia.com/gpu, where '*' may only be the last character, as in nvidia.com/mig-*"},
    {HEAD "models:\n  units:\n  - {label: a.b/*.*}\n",
     "5:13: models.units[0].label: is the string \"a.b/*.*\", should be a label key, in which one "
     "'*' may stand for any text, such as nvidia.com/mig-*.memory"},
    {HEAD "models:\n  units:\n  - {says: much}\n",
     "5:12: models.units[0].says: is the string \"much\", should be one of count, replicas, "
     "strategy, partition, memory"},
    {HEAD "models:\n  units:\n  - {unit: Qi}\n",
     "5:12: models.units[0].unit: is the string \"Qi\", should be a unit of memory: B, Ki, Mi, Gi "
     "or Ti"},
    {HEAD "models:\n  units:\n  - {whole: '*a'}\n",
     "5:13: models.units[0].whole: is the string \"*a\", should be the value of a label, where '*' "
     "may only be the last character, as in spx*"},
    {HEAD "models:\n  units:\n  - {resource: a.b/c, label: a.b/d}\n",
     "5:5: models.units[0]: should have resource, label and says"},
    {HEAD "models:\n  units:\n  - {resource: a.b/c, label: a.b/d, says: memory}\n",
     "5:5: models.units[0]: should have a unit if and only if it says memory"},
    {HEAD "models:\n  units:\n  - {resource: a.b/c, label: a.b/d, says: count, whole: x}\n",
     "5:5: models.units[0]: has whole, which only strategy and partition may have"},
    {HEAD "models:\n  units:\n  - {resource: a.b/c, label: a.b/d, says: count, replicas: x}\n",
     "5:5: models.units[0]: has replicas, which only strategy may have"},
    {HEAD "deviceDrivers: [gpu.nvidia.com]\n",
     "3:16: deviceDrivers: is an array, should be a mapping of driver names"},
    {HEAD "deviceDrivers: {GPU: {model: m}}\n",
     "3:17: deviceDrivers.GPU: is not a driver's name, should be the name of a DRA driver, such "
     "as gpu.nvidia.com"},
    {HEAD "deviceDrivers:\n  a.b: productName\n",
     "4:8: deviceDrivers.a.b: is the string \"productName\", should be a mapping of model, "
     "resource"},
    {HEAD "deviceDrivers:\n  a.b:\n",
     "4:7: deviceDrivers.a.b: is null, should be a mapping of model, resource"},
    {HEAD "deviceDrivers:\n  a.b: {resource: a.b/gpu}\n",
     "4:8: deviceDrivers.a.b: has no model, should name the attribute that gives a device's "
     "model"},
    {HEAD "deviceDrivers:\n  a.b: {model: 7}\n",
     "4:16: deviceDrivers.a.b.model: is the number 7, should be a string"},
    {HEAD "deviceDrivers:\n  a.b: {model: a.b/m}\n",
     "4:16: deviceDrivers.a.b.model: is the string \"a.b/m\", should be the name of an attribute "
     "without a domain, such as productName"},
    {HEAD "deviceDrivers:\n  a.b: {model: m, resource: a.b/mig-*}\n",
     "4:29: deviceDrivers.a.b.resource: is the string \"a.b/mig-*\", should be a resource name "
     "DOMAIN/NAME, such as nvidia.com/gpu"},
    {HEAD "deviceDrivers:\n  a.b: {model: m, name: n}\n",
     "4:19: deviceDrivers.a.b.name: unknown key; known here: model, resource"},
};

static const struct fault LISTS[] = {
    {HEAD "gpuResources: []\n",
     "3:15: gpuResources: is empty, should be a list of at least one name"},
    {HEAD "models:\n  labels: []\n",
     "4:11: models.labels: is empty, should be a list of at least one name"},
    {HEAD "models:\n  labels:\n  - a\n  - b\n  - a\n",
     "7:5: models.labels[2]: is \"a\", a duplicate of models.labels[0], should be listed once"},
    {HEAD "topology: {levels: [a, b, c, d, e]}\n",
     "3:20: topology.levels: has 5 names, should have at most 4"},
    {HEAD "topology: {levels: [a, a]}\n",
     "3:24: topology.levels[1]: is \"a\", a duplicate of topology.levels[0], should be listed "
     "once"},
    {HEAD "topology: {levels: [a b]}\n",
     "3:21: topology.levels[0]: is the string \"a b\", should be a label key, such as "
     "nvidia.com/gpu.product or accelerator"},
    {HEAD "gangs: {conventions: [lws]}\n",
     "3:23: gangs.conventions[0]: is the string \"lws\", should be kueue, koordinator, yunikorn or "
     "lws/NAMESPACE, such as lws/inference"},
    {HEAD "gangs: {conventions: [kueue, lws/A]}\n",
     "3:30: gangs.conventions[1]: is the string \"lws/A\", should be kueue, koordinator, yunikorn "
     "or lws/NAMESPACE, such as lws/inference"},
    {HEAD "gangs: {conventions: [kueue, kueue]}\n",
     "3:30: gangs.conventions[1]: is \"kueue\", a duplicate of gangs.conventions[0], should be "
     "listed once"},
};

static void test_too_many_drivers(void **state)
{
    (void)state;
    struct buf text;
    buf_init(&text, 4000);
    buf_add_text(&text, HEAD "deviceDrivers:\n");
    for (int i = 0; i <= DEVICE_DRIVERS_MAX; i++)
        buf_printf(&text, "  d%d: {model: m}\n", i);
    const struct fault fault = {buf_text(&text),
                                "4:3: deviceDrivers: has 65 drivers, should have at most 64"};
    struct fault_table table = {&fault, 1};
    void *only = &table;
    check_faults(&only);
    buf_fini(&text);
}

/* kube-scheduler must get a binding's answer before it gives the call up. */
static const struct fault BIND_TIMEOUTS[] = {
    {HEAD "kubernetes: {bindTimeoutSeconds: 8}\n",
     "3:34: kubernetes.bindTimeoutSeconds: is 8, should be less than "
     "scheduler.httpTimeoutSeconds (3)"},
    {HEAD "scheduler: {httpTimeoutSeconds: 10}\nkubernetes: {bindTimeoutSeconds: 10}\n",
     "4:34: kubernetes.bindTimeoutSeconds: is 10, should be less than "
     "scheduler.httpTimeoutSeconds (10)"},
    {HEAD "scheduler: {weight: 130, httpTimeoutSeconds: 2}\n",
     "3:46: scheduler.httpTimeoutSeconds: is 2, should be more than "
     "kubernetes.bindTimeoutSeconds (2)"},
};

/* Reports the first fault in the file, not in the order of a table. */
static const struct fault TIMES_OF_LEADER_ELECTION[] = {
    {HEAD "leaderElection: {enabled: true, retryPeriodSeconds: 4}\n",
     "3:17: leaderElection.renewDeadlineSeconds: is 4, should be more than 1.2 times "
     "retryPeriodSeconds (4)"},
    {HEAD "leaderElection: {enabled: true, leaseDurationSeconds: 4}\n",
     "3:55: leaderElection.leaseDurationSeconds: is 4, should be more than "
     "renewDeadlineSeconds (4)"},
    {HEAD "kubernetes: {bindTimeoutSeconds: 4}\nscheduler: {httpTimeoutSeconds: 5}\n"
          "leaderElection: {enabled: true}\n",
     "5:17: leaderElection.leaseDurationSeconds: is 6, should be at least 7: "
     "kubernetes.bindTimeoutSeconds (4), one second, and twice retryPeriodSeconds (1)"},
    {HEAD "leaderElection: {leaseName: ''}\n",
     "3:29: leaderElection.leaseName: is the string \"\", should be a name of at most 63 small "
     "letters, digits and '-', such as team-a"},
    {HEAD "leaderElection: {serviceName: A}\n",
     "3:31: leaderElection.serviceName: is the string \"A\", should be a name of at most 63 "
     "small letters, digits and '-', such as team-a"},
};

/* An instance beside each kube-scheduler has no Lease. Its bindings must end before another
 * kube-scheduler may lead. */
static const struct fault BESIDE_KUBE_SCHEDULER[] = {
    {HEAD "scheduler: {beside: true}\nleaderElection: {enabled: true}\n"
          "kubernetes: {bindTimeoutSeconds: 2}\n",
     "3:21: scheduler.beside: excludes leaderElection.enabled: the instance beside the leading "
     "kube-scheduler decides, and this service has no Lease of its own"},
    {HEAD "scheduler: {beside: true, leaseDurationSeconds: 13}\n",
     "3:49: scheduler.leaseDurationSeconds: is 13, should be at least 14: renewDeadlineSeconds "
     "(10) + 4"},
    {HEAD "scheduler: {beside: true, httpTimeoutSeconds: 5}\n"
          "kubernetes: {bindTimeoutSeconds: 4}\n",
     "4:34: kubernetes.bindTimeoutSeconds: is 4, should be at most 3 with scheduler.beside: a "
     "binding and one second must be over before another kube-scheduler may lead "
     "(scheduler.leaseDurationSeconds 15 - renewDeadlineSeconds 10)"},
};

static const struct fault SEVERAL_FAULTS[] = {
    {HEAD "limits: {nodes: 0}\nlisten: {verbs: x}\nbogus: 1\n",
     "3:17: limits.nodes: is the number 0, should be a whole number from 1 to 1000000"},
    {HEAD "listen: {verbs: x}\nlimits: {nodes: 0}\n",
     "3:17: listen.verbs: is the string \"x\", " RIGHT_ADDRESS},
};

/* formats/ tests the texts. This tests file and position. */
static void test_yaml_faults_have_file_line_and_column(void **state)
{
    (void)state;
    static const char *const CASES[][2] = {
        {HEAD "limits: {nodes: 1\n", "p.yaml:4:1: "},
        {HEAD "limits:\n\tnodes: 1\n", "p.yaml:4:1: "},
        {HEAD "limits: {pods: 1, pods: 2}\n", "p.yaml:3:19: "},
        {HEAD "---\n" HEAD, "p.yaml:4:1: "},
        {HEAD "listen: {verbs: [::1]:80}\n", "p.yaml:3:18: "},
        {HEAD "gpuResources: *nothing\n", "p.yaml:3:15: "},
        {HEAD "x: \"\xff\"\n", "p.yaml:3:5: "},
        {HEAD "x: [[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]\n", "p.yaml:3:19: "},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct settings settings;
        struct err err = {.text = ""};
        const char *text = CASES[i][0];
        settings_init(&settings);
        int r = settings_read_text(&settings, "p.yaml", text, strlen(text), &err);
        settings_fini(&settings);
        size_t len = strlen(CASES[i][1]);
        if (r >= 0 || strncmp(err.text, CASES[i][1], len) != 0 || err.text[len] == '\0')
            fail_msg("\"%s\" should begin with %s, for:\n%s", err.text, CASES[i][1], text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FAULT_TABLE("head", check_faults, HEADS),
        FAULT_TABLE("unknown keys", check_faults, UNKNOWN_KEYS),
        FAULT_TABLE("enforced namespaces", check_faults, ENFORCED),
        FAULT_TABLE("quotas", check_faults, QUOTAS),
        FAULT_TABLE("selectors of quotas", check_faults, SELECTORS_OF_QUOTAS),
        FAULT_TABLE("decimals", check_faults, DECIMALS),
        FAULT_TABLE("types", check_faults, TYPES),
        FAULT_TABLE("ranges and spellings", check_faults, RANGES_AND_SPELLINGS),
        FAULT_TABLE("drivers", check_faults, DRIVERS),
        cmocka_unit_test(test_too_many_drivers),
        FAULT_TABLE("lists", check_faults, LISTS),
        FAULT_TABLE("times of leader election", check_faults, TIMES_OF_LEADER_ELECTION),
        FAULT_TABLE("a binding must end before the timeout of kube-scheduler", check_faults,
                    BIND_TIMEOUTS),
        FAULT_TABLE("faults of the mode beside each kube-scheduler", check_faults,
                    BESIDE_KUBE_SCHEDULER),
        FAULT_TABLE("the first fault is reported", check_faults, SEVERAL_FAULTS),
        cmocka_unit_test(test_yaml_faults_have_file_line_and_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
