/* decisions: gpudecisions: the latest answers to kube-scheduler about a pod. Private to api. */
#ifndef API_KUBERNETES_DECISIONS_H
#define API_KUBERNETES_DECISIONS_H

#include "api/kubernetes/kinds.h"

extern const struct kind_member DECISION_MEMBERS[];
extern const struct kind_column DECISION_COLUMNS[];
objects_find decisions_find_objects;

#endif
