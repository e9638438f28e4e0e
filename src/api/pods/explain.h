/*
 * explain: one pod, and every node's verdict while it is pending. Private to api.
 */
#ifndef API_PODS_EXPLAIN_H
#define API_PODS_EXPLAIN_H

#include "inventory/inventory.h"
#include "record/groups.h"

#include <jansson.h>

struct explain_question {
    const char *namespace_, *name;
    struct groups *groups; /* NULL: none are planned */
    const char *only;      /* names no pods of other namespaces; NULL: all */
};
/* The answer of GET /v1/explain; NULL: there is no such pod. */
json_t *explain_answer(struct inventory *inventory, const struct explain_question *question,
                       struct arena *arena);

#endif
