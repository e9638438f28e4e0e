/*
 * selector: do a node's labels and taints admit a pod?
 *
 * Semantics of k8s.io/component-helpers/scheduling/corev1/nodeaffinity and
 * k8s.io/api/core/v1 (Toleration.ToleratesTaint).
 */
#ifndef TYPES_SELECTOR_H
#define TYPES_SELECTOR_H

#include "types/facts.h"
#include "types/policy.h"

/* A node's name and labels, sorted by key (labels_sort()). */
struct label_view {
    const char *node_name;
    const struct label *labels;
    size_t n_labels;
    const struct policy *policy; /* for model names */
};

void labels_sort(struct label *labels, size_t n_labels);
/* The value, or NULL. labels must be sorted by key. */
const char *labels_find(const struct label *labels, size_t n_labels, const char *key);

/* False for what Kubernetes' validation rejects: In or NotIn without values, Exists with some, a
 * field other than metadata.name, more than one value for a field, Gt or Lt with a non-integer. */
bool requirement_holds(const struct requirement *requirement, const struct label_view *view);
/* Whether all requirements hold; an empty term holds (spec.nodeSelector). */
bool selector_term_holds(const struct selector_term *term, const struct label_view *view);
/* True if the selector is not present; terms as in facts.h. */
bool node_selector_holds(const struct node_selector *selector, const struct label_view *view);
/* Sum of the weights of the terms that hold. */
int64_t preferred_weight(const struct preferred_term *terms, size_t n_terms,
                         const struct label_view *view);

bool toleration_tolerates(const struct toleration *toleration, const struct taint *taint);
/* The first untolerated taint with effect NoSchedule or NoExecute, or NULL. */
const struct taint *taints_first_untolerated(const struct taint *taints, size_t n_taints,
                                             const struct toleration *tolerations,
                                             size_t n_tolerations);
/* The number of untolerated PreferNoSchedule taints. */
size_t taints_unpreferred(const struct taint *taints, size_t n_taints,
                          const struct toleration *tolerations, size_t n_tolerations);

#endif
