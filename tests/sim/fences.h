/*
 * fences: conditions of every binding that a service sends, checked where each fence acts. A GPU
 * assigned twice needs a failing fence and bad luck; these checks need only the failure.
 */
#ifndef SIM_FENCES_H
#define SIM_FENCES_H

struct service;

/* The life of the service that sent a binding. */
struct binder {
    struct service *service;
    unsigned life;
};

/* A binding leaves. The service must hold the Lease, if there is one, until the binding has taken
 * effect or never will. It must know all bindings of earlier lives and other replicas. */
void fences_leaves(const struct binder *binder);
/* The API server processes a binding. Its sender must still hold the Lease, if there is one, and no
 * other may bind. */
void fences_carried_out(const struct binder *binder);
/* A binding takes effect. No other may bind, and its sender, if alive, must hold the
 * reservation. */
void fences_took_effect(const struct binder *binder, const char *uid, const char *node);

#endif
