/*
 * pending: pending pods and their verdicts. Private to api.
 */
#ifndef API_PODS_PENDING_H
#define API_PODS_PENDING_H

#include "api/api.h"
#include "api/pods/pod_copy.h"

#include <jansson.h>

/* The answer of GET /v1/pending for these pods, by priority and age. Ends the copies. */
json_t *pending_answer(const struct api *api, struct pod_copies *copies, struct arena *arena);

#endif
