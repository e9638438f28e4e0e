/* pod_names: see pod_names.h. */
#include "pod_names.h"
#include "base/hash.h"
#include "base/mem.h"
#include "ledger.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_ROOMS 64

static struct pod_entry **bucket_of(const struct pod_names *names, const char *namespace_,
                                    const char *name)
{
    /* Includes the terminator, so that "a", "bc" differs from "ab", "c". */
    struct siphash hash = siphash_begin(hash_key(), false);
    siphash_add(&hash, namespace_, strlen(namespace_) + 1, HASH_ROUNDS);
    siphash_add(&hash, name, strlen(name), HASH_ROUNDS);
    const size_t i = siphash_end(&hash, HASH_ROUNDS, HASH_LAST_ROUNDS) & names->mask;
    return &names->buckets[i < names->n_buckets ? i : i & (names->mask >> 1)];
}

static void put(struct pod_names *names, struct pod_entry *pod)
{
    struct pod_entry **bucket = bucket_of(names, pod->pod.namespace_, pod->pod.name);
    pod->next_named = *bucket;
    *bucket = pod;
}

/* Makes room in the array. The table does not use it yet. */
static void make_room(struct pod_names *names)
{
    const size_t n_rooms = names->n_rooms ? 2 * names->n_rooms : LEAST_ROOMS;
    names->buckets = mem_grow(names->buckets, n_rooms, sizeof(struct pod_entry *));
    names->n_rooms = n_rooms;
}

/* Adds a bucket, and moves to it those pods of one other bucket that belong there now. */
static void add_bucket(struct pod_names *names)
{
    if (names->n_buckets == names->n_rooms)
        make_room(names);
    const size_t added = names->n_buckets++;
    names->buckets[added] = NULL;
    if (added == 0)
        return;
    if (added > names->mask)
        names->mask = 2 * names->mask + 1;
    struct pod_entry **split = &names->buckets[added & (names->mask >> 1)];
    struct pod_entry *next = *split;
    *split = NULL;
    while (next) {
        struct pod_entry *pod = next;
        next = pod->next_named;
        put(names, pod);
    }
}

void pod_names_free(struct pod_names *names)
{
    free(names->buckets);
    *names = (struct pod_names){NULL, 0, 0, 0, 0};
}

void pod_names_add(struct pod_names *names, struct pod_entry *pod)
{
    if (names->n == names->n_buckets)
        add_bucket(names);
    put(names, pod);
    names->n++;
}

void pod_names_remove(struct pod_names *names, struct pod_entry *pod)
{
    struct pod_entry **at = bucket_of(names, pod->pod.namespace_, pod->pod.name);
    while (*at != pod)
        at = &(*at)->next_named;
    *at = pod->next_named;
    names->n--;
}

struct pod_entry *pod_names_find(const struct pod_names *names, const char *namespace_,
                                 const char *name)
{
    if (names->n_buckets == 0)
        return NULL;
    struct pod_entry *pod = *bucket_of(names, namespace_, name);
    while (pod &&
           (strcmp(pod->pod.name, name) != 0 || strcmp(pod->pod.namespace_, namespace_) != 0))
        pod = pod->next_named;
    return pod;
}
