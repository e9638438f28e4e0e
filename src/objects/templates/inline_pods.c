/* inline_pods: see inline_pods.h. */
#include "objects/templates/inline_pods.h"

#include "formats/json_values.h"
#include "objects/templates/schema.h"

#include <stdint.h>
#include <string.h>

#define SHARED_BYTES_MAX ((size_t)4096)

/* The copy shares the members. */
static json_t *copy_or_new(const json_t *object)
{
    return json_is_object(object) ? json_copy((json_t *)(uintptr_t)object) : json_object();
}

/* Takes over spec and containers. */
static json_t *template_of(json_t *metadata, json_t *spec, json_t *containers)
{
    (void)json_object_set_new(spec, "containers", containers);
    return json_pack("{s:o, s:o}", "metadata", metadata, "spec", spec);
}

static void append(json_t *containers, const json_t *container, const char *name)
{
    if (!json_is_object(container))
        return;
    json_t *copy = copy_or_new(container);
    if (!json_member(copy, "name"))
        (void)json_object_set_new(copy, "name", json_string(name));
    (void)json_array_append_new(containers, copy);
}

static void append_all(json_t *containers, const json_t *more)
{
    for (size_t i = 0; i < json_array_size(more); i++)
        append(containers, json_array_get(more, i), "");
}

/* The annotations and labels of both; those of the second win. */
static json_t *metadata_of(const json_t *first, const json_t *second)
{
    static const char *const MAPS[] = {"annotations", "labels"};
    json_t *metadata = json_object();
    for (size_t i = 0; i < sizeof MAPS / sizeof *MAPS; i++) {
        json_t *map = copy_or_new(json_member(first, MAPS[i]));
        (void)json_object_update(map, json_member(second, MAPS[i]));
        (void)json_object_set_new(metadata, MAPS[i], map);
    }
    return metadata;
}

/* KServe gives the annotations and labels of the InferenceService to its pods. */
static json_t *make_kserve(const json_t *root, const json_t *owner, const json_t *object)
{
    static const char *const SERVERS[] = {
        "model", "custom", "sklearn",     "xgboost",  "tensorflow", "pytorch", "triton", "paddle",
        "onnx",  "pmml",   "huggingface", "lightgbm", "mlserver",   "art",     "alibi"};
    (void)owner;
    json_t *containers = json_array();
    for (size_t i = 0; i < sizeof SERVERS / sizeof *SERVERS; i++)
        append(containers, json_member(object, SERVERS[i]), "kserve-container");
    append_all(containers, json_member(object, "containers"));
    if (json_array_size(containers) == 0) {
        json_decref(containers);
        return NULL;
    }
    return template_of(metadata_of(json_member(root, "metadata"), object), copy_or_new(object),
                       containers);
}

static json_int_t number_or(const json_t *object, const char *key, json_int_t other)
{
    const json_t *value = json_member(object, key);
    return json_is_integer(value) ? json_integer_value(value) : other;
}

/* Each replica is a head and its workers, n_nodes pods. */
static int64_t workers(json_int_t n, json_int_t n_nodes)
{
    json_int_t product = 0;
    return n < 0 || n_nodes < 1 || __builtin_mul_overflow(n, n_nodes - 1, &product) ? 1 : product;
}

/* A pipeline of several nodes. */
static int64_t count_kserve_workers(const json_t *owner, const json_t *object)
{
    return workers(number_or(owner, "minReplicas", 1),
                   number_or(object, "pipelineParallelSize", 2));
}

/* Source: ParallelismSpec.GetSize() in kserve/kserve's
 * pkg/apis/serving/v1alpha1/llm_inference_service_types_func.go. Workers without parallelism are
 * rejected. */
static int64_t count_llm_workers(const json_t *owner, const json_t *object)
{
    const json_t *parallelism = json_member(owner, "parallelism");
    const json_int_t all = number_or(parallelism, "data", 0);
    const json_int_t local = number_or(parallelism, "dataLocal", 0);
    const json_int_t replicas = number_or(owner, "replicas", 1);
    (void)object;
    if (all <= 0 && local <= 0)
        return workers(replicas, number_or(parallelism, "pipeline", 2));
    return workers(replicas, (all > 1 ? all : 1) / (local > 1 ? local : 1));
}

static json_t *make_llm_pod(const json_t *root, const json_t *object, const json_t *spec)
{
    if (json_array_size(json_member(spec, "containers")) == 0)
        return NULL;
    json_t *containers = json_array();
    append_all(containers, json_member(spec, "containers"));
    return template_of(metadata_of(json_member(root, "metadata"), object), copy_or_new(spec),
                       containers);
}

/* Its templates are pod specs. */
static json_t *make_llm_service(const json_t *root, const json_t *owner, const json_t *object)
{
    (void)owner;
    return make_llm_pod(root, object, json_member(object, "template"));
}

static json_t *make_llm_worker(const json_t *root, const json_t *owner, const json_t *object)
{
    return make_llm_pod(root, owner, object);
}

static int count_bytes(const char *bytes, size_t len, void *context)
{
    size_t *left = context;
    (void)bytes;
    if (len > *left)
        return -1;
    *left -= len;
    return 0;
}

/* What the spec of an Argo Workflow says for the templates that do not. Each template gets a copy,
 * so more than SHARED_BYTES_MAX are an error. */
static int add_argo_defaults(json_t *spec, const json_t *owner)
{
    static const char *const KEYS[][2] = {
        {"affinity", "affinity"},           {"hostNetwork", "hostNetwork"},
        {"nodeSelector", "nodeSelector"},   {"podPriorityClassName", "priorityClassName"},
        {"schedulerName", "schedulerName"}, {"tolerations", "tolerations"},
        {"podMetadata", "podMetadata"},
    };
    size_t left = SHARED_BYTES_MAX;
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++) {
        json_t *value = json_member(owner, KEYS[i][0]);
        if (!value || json_member(spec, KEYS[i][1]))
            continue;
        if (json_dump_callback(value, count_bytes, &left, JSON_ENCODE_ANY) < 0)
            return -1;
        (void)json_object_set(spec, KEYS[i][1], value);
    }
    return 0;
}

/* Templates of steps, and those that make another object, have no container. */
static json_t *make_argo(const json_t *root, const json_t *owner, const json_t *object)
{
    (void)root;
    json_t *containers = json_array();
    append(containers, json_member(object, "container"), "main");
    append(containers, json_member(object, "script"), "main");
    append_all(containers, json_member(json_member(object, "containerSet"), "containers"));
    if (json_array_size(containers) == 0) {
        json_decref(containers);
        return NULL;
    }
    append_all(containers, json_member(object, "sidecars"));
    json_t *spec = copy_or_new(object);
    if (add_argo_defaults(spec, owner) < 0) {
        json_decref(spec);
        json_decref(containers);
        return NULL;
    }
    return template_of(
        metadata_of(json_member(spec, "podMetadata"), json_member(object, "metadata")), spec,
        containers);
}

/* A container with the resources of that member only. */
static json_t *containers_with(const json_t *resources, const char *name)
{
    json_t *container = json_pack("{s:s}", "name", name);
    if (resources)
        (void)json_object_set(container, "resources", (json_t *)(uintptr_t)resources);
    return json_pack("[o]", container);
}

/* Without resources here, the runtime says what the pods ask for. */
static json_t *make_train_job(const json_t *root, const json_t *owner, const json_t *object)
{
    (void)root;
    (void)owner;
    const json_t *resources = json_member(object, "resourcesPerNode");
    if (!resources)
        return NULL;
    return template_of(json_object(), json_object(), containers_with(resources, "node"));
}

/* The claims as a pod names them. */
static void add_nim_claims(json_t *spec)
{
    const json_t *claims = json_member(spec, "draResources");
    json_t *named = json_array();
    for (size_t i = 0; i < json_array_size(claims); i++)
        append(named, json_array_get(claims, i), "gpu");
    if (json_array_size(named) > 0)
        (void)json_object_set(spec, "resourceClaims", named);
    json_decref(named);
}

/* A service that spans several nodes has a group of pods for each replica. */
static int64_t count_nim_group(const json_t *owner, const json_t *object)
{
    const json_t *group = json_member(object, "multiNode");
    const json_t *size = json_member(group, "size");
    size = size ? size : json_member(json_member(group, "parallelism"), "pipeline");
    if (json_is_false(json_member(owner, "enabled"))) /* of a pipeline */
        return 0;
    return json_is_integer(size) && json_integer_value(size) > 0 ? json_integer_value(size) : 1;
}

static json_t *make_nim_service(const json_t *root, const json_t *owner, const json_t *object)
{
    (void)root;
    (void)owner;
    json_t *spec = copy_or_new(object);
    add_nim_claims(spec);
    json_t *containers = containers_with(json_member(object, "resources"), "nim");
    (void)json_object_del(spec, "resources"); /* else those of the whole pod */
    return template_of(metadata_of(NULL, object), spec, containers);
}

#define SPEC_PARTS                                                                                 \
    {"containers", NULL}, {"initContainers", NULL},                                                \
    {                                                                                              \
        "resourceClaims", NULL                                                                     \
    }
#define SERVER(key)                                                                                \
    {                                                                                              \
        key, &SCHEMA_CONTAINER                                                                     \
    }

#define KSERVE_NOTE "KServe: what the serving runtime adds to the pods is unknown"
#define KSERVE(...)                                                                                \
    {                                                                                              \
        .group = "serving.kserve.io", .kind = "InferenceService", .path = {__VA_ARGS__},           \
        .make = make_kserve, .type = &SCHEMA_POD_SPEC,                                             \
        .parts = {SPEC_PARTS,         SERVER("model"),    SERVER("custom"),                        \
                  SERVER("sklearn"),  SERVER("xgboost"),  SERVER("tensorflow"),                    \
                  SERVER("pytorch"),  SERVER("triton"),   SERVER("paddle"),                        \
                  SERVER("onnx"),     SERVER("pmml"),     SERVER("huggingface"),                   \
                  SERVER("lightgbm"), SERVER("mlserver"), SERVER("art"),                           \
                  SERVER("alibi")},                                                                \
        .count = "minReplicas", .one_by_default = true, .note = KSERVE_NOTE,                       \
    }
#define LLM(...)                                                                                   \
    {                                                                                              \
        .group = "serving.kserve.io", .kind = "LLMInferenceService", .path = {__VA_ARGS__},        \
        .make = make_llm_service, .parts = {{"template", &SCHEMA_POD_SPEC}}, .count = "replicas",  \
        .one_by_default = true, .note = KSERVE_NOTE,                                               \
    }
#define LLM_WORKER(...)                                                                            \
    {                                                                                              \
        .group = "serving.kserve.io", .kind = "LLMInferenceService",                               \
        .path = {"worker", __VA_ARGS__}, .make = make_llm_worker, .type = &SCHEMA_POD_SPEC,        \
        .parts = {SPEC_PARTS}, .gpus_in = "containers", .one_by_default = true,                    \
        .pods_each = count_llm_workers, .note = KSERVE_NOTE,                                       \
    }
#define NIM(nim_kind, ...)                                                                         \
    {                                                                                              \
        .group = "apps.nvidia.com", .kind = nim_kind, .path = {__VA_ARGS__},                       \
        .make = make_nim_service, .type = &SCHEMA_POD_SPEC,                                        \
        .parts = {SPEC_PARTS, {"resources", NULL}, {"draResources", NULL}}, .count = "replicas",   \
        .gpus_in = "resources", .one_by_default = true, .pods_each = count_nim_group,              \
    }
#define ARGO(argo_kind, ...)                                                                       \
    {                                                                                              \
        .group = "argoproj.io", .kind = argo_kind, .path = {"[]", "templates", __VA_ARGS__},       \
        .make = make_argo, .type = &SCHEMA_POD_SPEC,                                               \
        .parts = {SPEC_PARTS,                                                                      \
                  SERVER("container"),                                                             \
                  SERVER("script"),                                                                \
                  {"containerSet", NULL},                                                          \
                  {"sidecars", &SCHEMA_CONTAINER}},                                                \
    }

static const struct inline_pods ROWS[] = {
    KSERVE("predictor", "spec"),
    KSERVE("transformer", "spec"),
    KSERVE("explainer", "spec"),
    {.group = "serving.kserve.io",
     .kind = "InferenceService",
     .path = {"workerSpec", "predictor", "spec"},
     .make = make_kserve,
     .type = &SCHEMA_POD_SPEC,
     .parts = {SPEC_PARTS},
     .gpus_in = "containers",
     .one_by_default = true,
     .pods_each = count_kserve_workers,
     .note = KSERVE_NOTE},
    LLM("spec"),
    LLM("prefill", "spec"),
    LLM_WORKER("spec"),
    LLM_WORKER("prefill", "spec"),
    ARGO("Workflow", "spec"),
    ARGO("WorkflowTemplate", "spec"),
    ARGO("ClusterWorkflowTemplate", "spec"),
    ARGO("CronWorkflow", "workflowSpec", "spec"),
    {.group = "trainer.kubeflow.org",
     .kind = "TrainJob",
     .path = {"trainer", "spec"},
     .make = make_train_job,
     .parts = {{"resourcesPerNode", &SCHEMA_RESOURCES}},
     .count = "numNodes",
     .note = "TrainJob: what the training runtime adds to the pods is unknown"},
    NIM("NIMService", "spec"),
    NIM("NIMPipeline", "spec", "[]", "services", "spec"),
    {.kind = ""},
};

const struct inline_pods *inline_pods_of_kind(const char *kind, const char *api_version)
{
    for (const struct inline_pods *row = ROWS; *row->kind; row++) {
        if (strcmp(row->kind, kind) == 0 && schema_may_be_in_group(api_version, row->group))
            return row;
    }
    return NULL;
}

bool inline_pods_is_more(const struct inline_pods *first, const struct inline_pods *row)
{
    return strcmp(first->kind, row->kind) == 0;
}

bool inline_pods_has_part(const struct inline_pods *row, const char *key)
{
    for (size_t i = 0; i < INLINE_PARTS_MAX && row->parts[i].key; i++) {
        if (strcmp(row->parts[i].key, key) == 0)
            return true;
    }
    return false;
}
