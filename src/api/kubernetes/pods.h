/* pods: gpupods with their subresource explain, and gpupending. Private to api. */
#ifndef API_KUBERNETES_PODS_H
#define API_KUBERNETES_PODS_H

#include "api/kubernetes/kinds.h"

extern const struct kind_member HOLDER_MEMBERS[], PENDING_MEMBERS[];
extern const struct kind_column HOLDER_COLUMNS[], PENDING_COLUMNS[];
objects_find pods_find_holders;
objects_find pods_find_pending;

/* Answers with GET /v1/explain of the selected pod, which need not hold GPUs. */
void pods_explain(const struct objects_query *query);

#endif
