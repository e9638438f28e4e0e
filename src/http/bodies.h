/*
 * bodies: limits the bytes of request bodies held at once, over all sockets. Half of the maximum is
 * reserved for kube-scheduler's verbs; all other requests share the other half. Large answers to
 * other clients have a second limit of the same size, and each client has an eighth of it, so that
 * one who reads slowly keeps no others out. A single one is always allowed. From any thread.
 */
#ifndef HTTP_BODIES_H
#define HTTP_BODIES_H

#include "base/buf.h"
#include "base/mutex.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum body_owner { BODY_OF_VERBS, BODY_OF_OTHERS, N_BODY_OWNERS };

struct unread_answers;

struct bodies {
    size_t max;
    struct mutex lock; /* guards the rest */
    size_t held[N_BODY_OWNERS];
    size_t answers;
    struct unread_answers *clients;
};

void bodies_init(struct bodies *bodies, size_t max);
void bodies_fini(struct bodies *bodies);

/* Returns false and takes nothing if there is no room for the bytes. */
bool bodies_take(struct bodies *bodies, enum body_owner owner, size_t n_bytes);
void bodies_give_back(struct bodies *bodies, enum body_owner owner, size_t n_bytes);
/* The same for a large answer to that client. */
bool bodies_take_answer(struct bodies *bodies, uint64_t client, size_t n_bytes);
void bodies_give_back_answer(struct bodies *bodies, uint64_t client, size_t n_bytes);
/* Writes the metric. */
void bodies_write(struct bodies *bodies, struct buf *out);

#endif
