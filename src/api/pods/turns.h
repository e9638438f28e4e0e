/*
 * turns: where the waiting pods go if kube-scheduler takes them one after the other, so that
 * several do not get the same room. Private to api.
 */
#ifndef API_PODS_TURNS_H
#define API_PODS_TURNS_H

#include "base/arena.h"
#include "inventory/inventory.h"

struct turn {
    const char *node; /* NULL: no room is left for it */
    const char *pod;  /* "NAMESPACE/NAME" */
};

struct turns;

/* Places all waiting pods on a fork of its own, in the order of kube-scheduler, for at most so many
 * verdicts. All in the arena. */
struct turns *turns_of(struct inventory *inventory, size_t n_verdicts, struct arena *arena);
/* NULL: it was not tried: the pod may be none that waits, is gated, or came after the verdicts. */
const struct turn *turns_find(const struct turns *turns, const char *uid);
/* The first that gets room on the node; NULL: none does. */
const struct turn *turns_first_on(const struct turns *turns, const char *node);
void turns_free(struct turns *turns);

#endif
