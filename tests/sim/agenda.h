/*
 * agenda: the events of simulated time. Events of the same moment run in the order in which they
 * were added.
 */
#ifndef SIM_AGENDA_H
#define SIM_AGENDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void agenda_call(void *context);

struct agenda_entry {
    int64_t at_ms;
    uint64_t serial;
    agenda_call *call;
    void *context;
};

struct agenda {
    int64_t now_ms;
    struct agenda_entry *heap;
    size_t n;
    size_t size;
    uint64_t serial;
};

void agenda_init(struct agenda *agenda, int64_t now_ms);
void agenda_fini(struct agenda *agenda);
/* A past event runs next. Events cannot be cancelled: the callee checks whether it still
 * applies. */
void agenda_at(struct agenda *agenda, int64_t at_ms, agenda_call *call, void *context);
void agenda_in(struct agenda *agenda, int64_t delay_ms, agenda_call *call, void *context);
/* Runs the next event. False: none is left until end_ms, which is now the time. */
bool agenda_step(struct agenda *agenda, int64_t end_ms);

#endif
