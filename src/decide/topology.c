/* topology: see include/decide/topology.h. */
#include "decide/topology.h"
#include "base/mem.h"
#include "ledger/node_hot.h"
#include "ledger/quarantine.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool topology_is_whole(const struct node_domain *domain)
{
    return domain->n_whole > 0 && domain->n_whole == domain->n_gpu_nodes;
}

int64_t topology_open_gpus(const struct node *node)
{
    const bool is_open = node_hot(node)->has_open_gpus && !node_mark_closes(node);
    return is_open ? node_free_gpus(node) : 0;
}

static int64_t sum_of(int64_t a, int64_t b)
{
    int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

void topology_count(struct topology_row *rows, const struct node *node)
{
    const struct node_hot *hot = node_hot(node);
    for (domain_id id = hot->domain; id; id = cluster_domain(hot->cluster, id)->outer) {
        rows[id].n_nodes++;
        rows[id].n_gpu_nodes += hot->has_open_gpus;
        rows[id].n_whole += hot->is_whole;
        rows[id].free_gpus = sum_of(rows[id].free_gpus, topology_open_gpus(node));
    }
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
    for (const struct node *node = cluster_next_node(cluster, NULL); node;
         node = cluster_next_node(cluster, node)) {
        if (node_domain(node, level))
            sums.free_gpus = sum_of(sums.free_gpus, topology_open_gpus(node));
    }
    count_repeated(names, sums.n_domains, &sums);
    free(names);
    return sums;
}

/* Whether a, whose room is enough, is the better fit. */
static bool fits_better(const struct topology_room *a, const struct topology_room *b)
{
    if (a->free_gpus != b->free_gpus)
        return a->free_gpus < b->free_gpus;
    if (a->n_members != b->n_members)
        return a->n_members < b->n_members;
    return strcmp(a->name, b->name) < 0;
}

struct topology_room *topology_best(struct topology_room *rooms, size_t n_rooms, int64_t n)
{
    struct topology_room *best = NULL;
    for (size_t i = 0; i < n_rooms; i++) {
        if (rooms[i].n_taken == 0 && rooms[i].n_members >= n &&
            (!best || fits_better(&rooms[i], best)))
            best = &rooms[i];
    }
    return best;
}

static struct topology_room *largest(struct topology_room *rooms, size_t n_rooms)
{
    struct topology_room *most = NULL;
    for (size_t i = 0; i < n_rooms; i++) {
        if (rooms[i].n_taken > 0 || rooms[i].n_members <= 0)
            continue;
        if (!most || rooms[i].n_members > most->n_members ||
            (rooms[i].n_members == most->n_members && fits_better(&rooms[i], most)))
            most = &rooms[i];
    }
    return most;
}

static void take_nothing(struct topology_room *rooms, size_t n_rooms)
{
    for (size_t i = 0; i < n_rooms; i++)
        rooms[i].n_taken = 0;
}

bool topology_require(struct topology_room *rooms, size_t n_rooms, int64_t n)
{
    take_nothing(rooms, n_rooms);
    struct topology_room *best = topology_best(rooms, n_rooms, n);
    if (best)
        best->n_taken = n;
    return best != NULL;
}

size_t topology_prefer(struct topology_room *rooms, size_t n_rooms, int64_t n)
{
    size_t n_chosen = 0;
    take_nothing(rooms, n_rooms);
    for (int64_t n_left = n; n_left > 0; n_chosen++) {
        struct topology_room *next = topology_best(rooms, n_rooms, n_left);
        if (!next)
            next = largest(rooms, n_rooms);
        if (!next) {
            take_nothing(rooms, n_rooms);
            return 0;
        }
        next->n_taken = next->n_members < n_left ? next->n_members : n_left;
        n_left -= next->n_taken;
    }
    return n_chosen;
}

/* The most room, then the most free GPUs. NULL: there are no rooms. */
static const struct topology_room *nearest(const struct topology_room *rooms, size_t n_rooms)
{
    const struct topology_room *best = NULL;
    for (size_t i = 0; i < n_rooms; i++) {
        if (!best || rooms[i].n_members > best->n_members ||
            (rooms[i].n_members == best->n_members && rooms[i].free_gpus > best->free_gpus))
            best = &rooms[i];
    }
    return best;
}

const char *topology_why_none(const struct topology_room *rooms, size_t n_rooms,
                              const struct topology_lack *lack, struct arena *arena)
{
    const struct topology_room *best = nearest(rooms, n_rooms);
    const char *pods = arena_printf(arena, "%" PRId64 " pod%s", lack->n, lack->n == 1 ? "" : "s");
    if (!best)
        return arena_printf(arena, "no node has a label for %s", lack->level);
    if (lack->gpus > 0)
        pods = arena_printf(arena, "%s of %" PRId64 " GPU%s", pods, lack->gpus,
                            lack->gpus == 1 ? "" : "s");
    if (lack->is_rest)
        return arena_printf(arena, "the %s of its bound pods has no room for the other %s",
                            lack->level, pods);
    const char *with =
        lack->gpus > 0 ? arena_printf(arena, ", with %" PRId64 " free,", best->free_gpus) : "";
    return arena_printf(arena, "no %s has room for %s; %s%s fits %" PRId64, lack->level, pods,
                        best->name, with, best->n_members);
}
