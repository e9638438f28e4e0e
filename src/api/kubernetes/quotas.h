/* quotas: gpuquotas: the quotas that cover a namespace. Private to api. */
#ifndef API_KUBERNETES_QUOTAS_H
#define API_KUBERNETES_QUOTAS_H

#include "api/kubernetes/kinds.h"

extern const struct kind_member QUOTA_MEMBERS[];
extern const struct kind_column QUOTA_COLUMNS[];
objects_find quotas_find_objects;

#endif
