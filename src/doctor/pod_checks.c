/* pod_checks: see cluster_checks.h. */
#include "cluster_checks.h"
#include "first_names.h"
#include "ledger/admit.h"
#include "ledger/cluster.h"

#include <stdbool.h>
#include <stdio.h>

/* The verdict by the pod and the node alone. */
static enum reason judge(const struct pod *pod, const struct node *node)
{
    const struct node_traits *traits = node_traits(node);
    const struct shape_facts *facts = &pod->shape->facts;
    if (pod->refusal)
        return REASON_POD_INVALID;
    if (!node_selector_holds(&facts->legacy_affinity, &traits->view))
        return REASON_LEGACY_AFFINITY;
    const enum reason reason = admit_wholeness(node, pod->shape);
    return reason != REASON_FITS ? reason : admit_model(node, pod->shape);
}

static bool is_judged(const struct pod *pod)
{
    return !pod->finished && !pod->terminating && pod->shape->n_gpu_needs > 0;
}

static size_t judge_pods(const struct cluster *cluster, struct first_names refused[N_REASONS])
{
    size_t n_judged = 0;
    for (const struct node *node = NULL; (node = cluster_next_node(cluster, node));) {
        for (const struct pod *pod = NULL; (pod = node_next_pod(node, pod));) {
            if (!is_judged(pod))
                continue;
            n_judged++;
            const enum reason reason = judge(pod, node);
            if (reason != REASON_FITS)
                first_names_add(&refused[reason], "%s/%s on %s", pod->namespace_, pod->name,
                                node_name(node));
        }
    }
    return n_judged;
}

void pod_checks_run(const struct cluster *cluster, struct findings *findings)
{
    struct first_names refused[N_REASONS] = {{.n = 0}};
    const size_t n_judged = judge_pods(cluster, refused);
    bool any = false;
    for (size_t i = 0; i < N_REASONS; i++) {
        char advice[256];
        if (refused[i].n == 0)
            continue;
        any = true;
        (void)snprintf(advice, sizeof advice, "before you recreate them: %s",
                       reason_help((enum reason)i));
        findings_add(findings, FINDING_WARN, "pods.refused", advice,
                     "%zu of %zu running GPU pods would be rejected if recreated: %s: %s",
                     refused[i].n, n_judged, reason_text((enum reason)i),
                     first_names_text(&refused[i]));
    }
    if (!any)
        findings_add(findings, FINDING_OK, "pods.refused", "",
                     "none of %zu running GPU pods would be rejected if recreated", n_judged);
}
