/* claims: gpuclaims: the claims that hold GPUs. Private to api. */
#ifndef API_KUBERNETES_CLAIMS_H
#define API_KUBERNETES_CLAIMS_H

#include "api/kubernetes/kinds.h"

extern const struct kind_member CLAIM_MEMBERS[];
extern const struct kind_column CLAIM_COLUMNS[];
objects_find claims_find_objects;

#endif
