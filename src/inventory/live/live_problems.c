/* live_problems: see live_priv.h. */
#include "base/mem.h"
#include "base/table.h"
#include "inventory/live/live_priv.h"

#include <stdlib.h>
#include <string.h>

#define NOT_LISTED SIZE_MAX

struct live_problem {
    char *id;
    uint64_t seen; /* number of the last relist that added it */
    size_t place;  /* index in the list, or NOT_LISTED */
    UT_hash_handle hh;
};

struct live_problems {
    struct live_problem *entries[N_CLUSTER_KINDS]; /* by id */
    uint64_t relists[N_CLUSTER_KINDS];
    struct inventory_problem list[PROBLEMS_MAX]; /* owns all its strings but the kind */
    struct live_problem *owners[PROBLEMS_MAX];
    size_t n_listed;
    uint64_t version;
};

struct live_problems *live_problems_new(void)
{
    return MEM_NEW(struct live_problems);
}

static void free_texts(struct inventory_problem *problem)
{
    free((void *)(uintptr_t)problem->name);
    free((void *)(uintptr_t)problem->what);
}

/* Moves the last entry to the free index. */
static void unlist(struct live_problems *problems, size_t place)
{
    free_texts(&problems->list[place]);
    size_t last = --problems->n_listed;
    problems->list[place] = problems->list[last];
    problems->owners[place] = problems->owners[last];
    problems->owners[place]->place = place;
}

static void forget(struct live_problems *problems, enum cluster_kind kind,
                   struct live_problem *entry)
{
    problems->version++;
    if (entry->place != NOT_LISTED)
        unlist(problems, entry->place);
    HASH_DEL(problems->entries[kind], entry);
    free(entry->id);
    free(entry);
}

static void forget_all(struct live_problems *problems, enum cluster_kind kind, bool also_seen)
{
    struct live_problem *entry = NULL;
    struct live_problem *next = NULL;
    HASH_ITER (hh, problems->entries[kind], entry, next) {
        if (also_seen || entry->seen != problems->relists[kind])
            forget(problems, kind, entry);
    }
}

void live_problems_free(struct live_problems *problems)
{
    if (!problems)
        return;
    for (int kind = 0; kind < N_CLUSTER_KINDS; kind++)
        forget_all(problems, (enum cluster_kind)kind, true);
    free(problems);
}

static struct live_problem *hold(struct live_problems *problems, enum cluster_kind kind,
                                 const char *id)
{
    struct live_problem *entry = NULL;
    HASH_FIND_STR(problems->entries[kind], id, entry);
    if (entry)
        return entry;
    entry = MEM_NEW(struct live_problem);
    entry->id = mem_strdup(id);
    entry->place = NOT_LISTED;
    HASH_ADD_KEYPTR(hh, problems->entries[kind], entry->id, strlen(entry->id), entry);
    return entry;
}

bool live_problems_add(struct live_problems *problems, enum cluster_kind kind,
                       const struct kind_key *key, const char *what)
{
    struct live_problem *entry = hold(problems, kind, key->id);
    problems->version++;
    entry->seen = problems->relists[kind];
    if (entry->place == NOT_LISTED) {
        if (problems->n_listed == PROBLEMS_MAX)
            return false;
        entry->place = problems->n_listed++;
        problems->owners[entry->place] = entry;
    } else if (strcmp(problems->list[entry->place].what, what) == 0) {
        return false;
    } else {
        free_texts(&problems->list[entry->place]);
    }
    problems->list[entry->place] = (struct inventory_problem){
        INVENTORY_KINDS[kind].kind, mem_strdup(key->name), mem_strdup(what)};
    return true;
}

void live_problems_resolve(struct live_problems *problems, enum cluster_kind kind, const char *id)
{
    struct live_problem *entry = NULL;
    HASH_FIND_STR(problems->entries[kind], id, entry);
    if (entry)
        forget(problems, kind, entry);
}

void live_problems_relist_begin(struct live_problems *problems, enum cluster_kind kind)
{
    problems->relists[kind]++;
}

void live_problems_relist_end(struct live_problems *problems, enum cluster_kind kind)
{
    forget_all(problems, kind, false);
}

uint64_t live_problems_version(const struct live_problems *problems)
{
    return problems->version;
}

size_t live_problems_count(const struct live_problems *problems, enum cluster_kind kind)
{
    return HASH_COUNT(problems->entries[kind]);
}

size_t live_problems_count_all(const struct live_problems *problems)
{
    size_t n = 0;
    for (int kind = 0; kind < N_CLUSTER_KINDS; kind++)
        n += live_problems_count(problems, (enum cluster_kind)kind);
    return n;
}

const struct inventory_problem *live_problems_list(const struct live_problems *problems,
                                                   size_t *ret_n)
{
    *ret_n = problems->n_listed;
    return problems->list;
}
