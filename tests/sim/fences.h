/*
 * fences: what must hold of every binding that a service sends, checked where each fence acts. A
 * GPU given twice needs a fence that fails and bad luck; these need only the failure.
 */
#ifndef SIM_FENCES_H
#define SIM_FENCES_H

struct service;

/* The life of a service that sent a binding. */
struct binder {
    struct service *service;
    unsigned life;
};

/* A binding leaves: the service holds the Lease, if there is one, until the binding has taken
 * effect or never will; and it knows all bindings of earlier lives and of other replicas. */
void fences_leaves(const struct binder *binder);
/* The API server carries a binding out, whatever comes of it: its sender still holds the
 * Lease, if there is one, and nobody else may bind. */
void fences_carried_out(const struct binder *binder);
/* A binding takes effect: nobody else may bind, and its sender, if it lives, holds the room. */
void fences_took_effect(const struct binder *binder, const char *uid, const char *node);

#endif
