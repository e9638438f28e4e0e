/*
 * pod_json: a pod of the ledger, told as JSON (PodStatus in docs/openapi.yaml). Private to api.
 */
#ifndef API_POD_JSON_H
#define API_POD_JSON_H

#include "judged.h"
#include "pod_copy.h"

/* What holds for all pods of one answer. */
struct telling {
    const struct cluster *fork;
    struct arena *arena;
    int64_t now_s;  /* since 1970 */
    int64_t now_ms; /* clock_ms() */
};

bool pod_is_pending(const struct pod *pod);
/* Of a pending pod: where may it go? */
struct asking pod_asking(const struct telling *telling, const struct pod_copy *copy);
/* judged NULL: it was not. */
json_t *pod_json(const struct telling *telling, const struct pod_copy *copy,
                 const struct judged *judged);
/* One sentence: pod_words.c. */
const char *pod_summary(const struct telling *telling, const struct pod_copy *copy,
                        const struct judged *judged);

#endif
