/* nodes: gpunodes: totals, without names of pods and namespaces. Private to api. */
#ifndef API_KUBERNETES_NODES_H
#define API_KUBERNETES_NODES_H

#include "api/kubernetes/kinds.h"

extern const struct kind_member NODE_MEMBERS[];
extern const struct kind_column NODE_COLUMNS[];
objects_find nodes_find;

#endif
