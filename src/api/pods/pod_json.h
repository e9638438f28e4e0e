/*
 * pod_json: a pod of the ledger, told as JSON (PodStatus in docs/openapi.yaml). Private to api.
 */
#ifndef API_PODS_POD_JSON_H
#define API_PODS_POD_JSON_H

#include "api/pods/pod_copy.h"
#include "api/verdicts/verdicts.h"

/* The same for all pods of one answer. */
struct pod_report {
    const struct cluster *fork;
    struct arena *arena;
    int64_t now_s;  /* since 1970 */
    int64_t now_ms; /* clock_ms() */
};

bool pod_json_is_pending(const struct pod *pod);
/* Of a pending pod: where may it go? */
struct pod_query pod_json_query(const struct pod_report *report, const struct pod_copy *copy);
/* verdicts NULL: it was not judged. */
json_t *pod_json(const struct pod_report *report, const struct pod_copy *copy,
                 const struct verdicts *verdicts);

#endif
