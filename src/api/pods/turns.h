/*
 * turns: where the waiting pods go if kube-scheduler takes them one after the other, so that
 * several do not get the same room. Private to api.
 */
#ifndef API_PODS_TURNS_H
#define API_PODS_TURNS_H

#include "base/arena.h"
#include "inventory/inventory.h"

#include <jansson.h>

struct turns;

/* Places all waiting pods on a fork of its own, in the order of kube-scheduler, for at most
 * TURNS_VERDICTS. All in the arena, but the tables: turns_free(). */
struct turns *turns_of(struct inventory *inventory, struct arena *arena);
/* Adds to a PodStatus where the pod goes, and changes its verdict if it fits by itself. Nothing if
 * it was not placed: kube-scheduler does not take it, or it came after the verdicts. */
void turns_add(const struct turns *turns, const char *uid, const struct policy *policy,
               json_t *pod);
void turns_free(struct turns *turns);

/* Verdicts for one answer: about a second. */
#define TURNS_VERDICTS ((size_t)1000000)

#endif
