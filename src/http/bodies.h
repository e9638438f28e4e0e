/*
 * bodies: how many bytes of requests' bodies are held at once, all sockets together, and their
 * maximum. Half of it is kept for kube-scheduler's verbs: others together may hold the other half.
 * Large answers to others have the same maximum once more, but that one alone is never too many.
 */
#ifndef HTTP_BODIES_H
#define HTTP_BODIES_H

#include "base/buf.h"
#include "base/mutex.h"

#include <stdbool.h>
#include <stddef.h>

enum body_owner { BODY_OF_VERBS, BODY_OF_OTHERS, N_BODY_OWNERS };

struct bodies {
    size_t max;
    struct mutex lock; /* guards the rest */
    size_t held[N_BODY_OWNERS];
    size_t answers;
};

void bodies_init(struct bodies *bodies, size_t max);
void bodies_fini(struct bodies *bodies);

/* False, and nothing taken, where there is no room for so many bytes. */
bool bodies_take(struct bodies *bodies, enum body_owner owner, size_t n_bytes);
void bodies_give_back(struct bodies *bodies, enum body_owner owner, size_t n_bytes);
/* The same for the bytes of a large answer. */
bool bodies_take_answer(struct bodies *bodies, size_t n_bytes);
void bodies_give_back_answer(struct bodies *bodies, size_t n_bytes);
/* The metric. */
void bodies_write(struct bodies *bodies, struct buf *out);

#endif
