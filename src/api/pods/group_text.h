/*
 * group_text: what a group of pods (gpu-extender.io/gang) waits for, in the words that all answers
 * have. Private to api.
 */
#ifndef API_PODS_GROUP_TEXT_H
#define API_PODS_GROUP_TEXT_H

#include "api/pods/pod_copy.h"
#include "record/groups.h"

#include <jansson.h>

/* "waits: 3 of 4 would fit now; the fourth lacks 8 H100". now_ms: since 1970. In the arena. */
const char *group_text(const struct waiting_group *row, int64_t now_ms, struct arena *arena);
/* A row of GET /v1/groups. */
json_t *group_text_json(const struct waiting_group *row, int64_t now_ms, struct arena *arena);

/* Adds the member "gang" to the JSON of the pods, which are in the order of the copies. A pod of a
 * group that is planned is answered for its group: its verdict and its summary say what the group
 * waits for. groups NULL: none are planned. */
void group_text_add(struct groups *groups, const struct pod_copies *copies, json_t *pods,
                    struct arena *arena);

#endif
