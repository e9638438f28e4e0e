/* topology: see include/decide/topology.h. */
#include "decide/topology.h"
#include "base/mem.h"

#include <stdlib.h>

bool topology_is_whole(const struct node_domain *domain)
{
    return domain->n_whole > 0 && domain->n_whole == domain->n_gpu_nodes;
}

static int compare_addresses(const void *a, const void *b)
{
    const uintptr_t left = (uintptr_t) * (const char *const *)a;
    const uintptr_t right = (uintptr_t) * (const char *const *)b;
    return (left > right) - (left < right);
}

/* Equal names are one text (types/string_table.h). */
static void count_repeated(const char **names, size_t n, struct topology_sums *sums)
{
    if (n > 0)
        qsort(names, n, sizeof *names, compare_addresses);
    for (size_t i = 1; i < n; i++) {
        if (names[i] != names[i - 1] || (i > 1 && names[i] == names[i - 2]))
            continue;
        sums->n_repeated++;
        if (!sums->repeated)
            sums->repeated = names[i];
    }
}

struct topology_sums topology_sums(const struct cluster *cluster, size_t level)
{
    const domain_id end = cluster_end_of_domains(cluster);
    struct topology_sums sums = {0};
    const char **names = MEM_ARRAY(const char *, end);
    for (domain_id id = 1; id < end; id++) {
        const struct node_domain *domain = cluster_domain(cluster, id);
        if (domain->n_nodes == 0 || domain->level != level)
            continue;
        names[sums.n_domains++] = domain->name;
        sums.n_nodes += domain->n_nodes;
        sums.n_whole += topology_is_whole(domain);
    }
    count_repeated(names, sums.n_domains, &sums);
    free(names);
    return sums;
}
