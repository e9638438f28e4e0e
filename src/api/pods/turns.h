/*
 * turns: where the waiting pods go if kube-scheduler takes them one after the other, so that
 * several do not get the same room. Private to api.
 */
#ifndef API_PODS_TURNS_H
#define API_PODS_TURNS_H

#include "api/pods/pod_copy.h"
#include "api/verdicts/candidates.h"
#include "inventory/claim_lookup.h"

#include <jansson.h>

struct turns;

struct turns_pods {
    struct inventory *inventory;
    const struct policy *policy; /* held */
    struct cluster *fork;        /* of the inventory; unchanged at the end */
    struct candidates *candidates;
    struct claim_lookup *claims; /* of the listed pods */
    const struct pod_copies *listed, *all;
    struct pod_remedies *remedies; /* of the fork; NULL: none are searched */
    const char *only;              /* names no pods of other namespaces; NULL: all */
};

/* All pods that wait, for struct turns_pods. */
struct pod_copies turns_copy_all(struct inventory *inventory, struct arena *arena);
/* Places all waiting pods on the fork, in the order of kube-scheduler, for at most TURNS_VERDICTS.
 * The listed pods, which may be all, have been judged (pod_copy.alone). All in the arena, but the
 * tables: turns_free(). */
struct turns *turns_of(const struct turns_pods *pods, struct arena *arena);
/* Adds to a PodStatus where the pod goes. If it fits by itself, changes its verdict; `waits` with
 * its remedies, if pods before it take the room. Nothing if
 * it was not placed: kube-scheduler does not take it, or it came after the verdicts. */
void turns_add(const struct turns *turns, const char *uid, json_t *pod);
void turns_free(struct turns *turns);

/* Verdicts for one answer: about a second. */
#define TURNS_VERDICTS ((size_t)1000000)

#endif
