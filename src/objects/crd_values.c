/* crd_values: see crd_values.h. */
#include "crd_values.h"

#include "schema.h"

#include <stddef.h>
#include <string.h>

#define NAMES_MAX 12

/* Read in the projects' CRDs. In a group, a name has one type wherever it stands. */
static const struct custom_group {
    const char *name;
    const char *strings[NAMES_MAX];
    const char *maps[NAMES_MAX]; /* of strings, besides MAPS */
    const char *flags[NAMES_MAX];
} GROUPS[] = {
    {.name = "apps.nvidia.com",
     .strings = {"authSecret", "profile", "pullPolicy", "repository", "storageClass", "tag"}},
    {.name = "batch.volcano.sh", .strings = {"priorityClassName", "queue", "schedulerName"}},
    {.name = "jobset.x-k8s.io", .flags = {"suspend"}},
    {.name = "kaito.sh", .strings = {"instanceType"}},
    {.name = "kubeflow.org",
     .strings = {"cleanPodPolicy", "mpiImplementation", "nprocPerNode", "restartPolicy",
                 "sshAuthMountPath"},
     .flags = {"runLauncherAsWorker", "suspend"}},
    {.name = "leaderworkerset.x-k8s.io", .strings = {"restartPolicy", "startupPolicy"}},
    {.name = "ray.io",
     .strings = {"entrypoint", "entrypointResources", "groupName", "jobId", "rayVersion",
                 "redisAddress", "runtimeEnvYAML", "serveConfigV2", "submissionMode",
                 "upscalingMode"},
     .maps = {"clusterSelector", "rayStartParams"},
     .flags = {"enableInTreeAutoscaling", "shutdownAfterJobFinishes", "suspend"}},
    {.name = "serving.kserve.io",
     .strings = {"protocolVersion", "runtime", "runtimeVersion", "storageUri", "version"}},
    {.name = "workloads.x-k8s.io"},
};
static const char *const MAPS[NAMES_MAX] = {"annotations", "labels", "matchLabels", "nodeSelector"};

static bool has(const char *const *names, const char *key)
{
    for (size_t i = 0; i < NAMES_MAX && names[i]; i++) {
        if (strcmp(names[i], key) == 0)
            return true;
    }
    return false;
}

char crd_values_shape(const char *api_version, const char *key)
{
    for (size_t i = 0; i < sizeof GROUPS / sizeof *GROUPS; i++) {
        const struct custom_group *group = &GROUPS[i];
        if (*api_version && schema_may_be_in_group(api_version, group->name))
            return has(group->strings, key)                  ? 'S'
                   : has(group->maps, key) || has(MAPS, key) ? 'M'
                   : has(group->flags, key)                  ? 'B'
                                                             : '-';
    }
    return '-';
}
