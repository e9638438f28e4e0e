/*
 * claim_answers: what each request of a pod's resource claims may get in the cluster, which terms
 * of selectors rule out devices, and which of its alternatives kube-scheduler would take. Private
 * to api.
 */
#ifndef API_VERDICTS_CLAIM_ANSWERS_H
#define API_VERDICTS_CLAIM_ANSWERS_H

#include "api/verdicts/candidates.h"
#include "base/buf.h"
#include "inventory/claim_lookup.h"

#include <jansson.h>

/* A ClaimAnswer (docs/openapi.yaml) for each claim of the pod, as the candidates are judged now. */
json_t *claim_answers_json(struct claim_lookup *lookup, struct claim_rules *rules,
                           const struct candidates *candidates, struct arena *arena);
/* A line for each claim and request, indented by so many spaces. */
void claim_answers_write(const json_t *answers, size_t indent, struct arena *arena,
                         struct buf *out);

#endif
