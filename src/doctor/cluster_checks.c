/* cluster_checks: see cluster_checks.h. */
#include "cluster_checks.h"

#include "ledger/cluster.h"

static void check_objects(const struct inventory_view *view, struct findings *findings)
{
    const struct inventory_problem *first = view->problems;
    if (view->n_all_problems > 0 && view->n_problems > 0)
        findings_add(findings, FINDING_WARN, "cluster.objects", "correct them, or they count wrong",
                     "%zu objects could not be read and were left out; the first: %s %s: %s",
                     view->n_all_problems, first->kind, first->name, first->what);
    else
        findings_add(findings, FINDING_OK, "cluster.objects", "", "%s: %zu nodes, %zu pods",
                     view->source, cluster_n_nodes(view->cluster), cluster_n_pods(view->cluster));
}

void cluster_checks_run(struct inventory *inventory, const struct scheduler_file *file,
                        struct findings *findings)
{
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    check_objects(&view, findings);
    node_checks_run(view.cluster, file, findings);
    quota_checks_run(view.cluster, findings);
    pod_checks_run(view.cluster, findings);
}
