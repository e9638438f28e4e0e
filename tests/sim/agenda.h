/*
 * agenda: what is to happen when, in the simulated time. Of what happens at the same moment, what
 * was noted first comes first.
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
/* What is past comes at once. There is no taking back: the callee looks whether it still matters.
 */
void agenda_at(struct agenda *agenda, int64_t at_ms, agenda_call *call, void *context);
void agenda_in(struct agenda *agenda, int64_t delay_ms, agenda_call *call, void *context);
/* The next; false where there is none until end_ms (it is that late then). */
bool agenda_step(struct agenda *agenda, int64_t end_ms);

#endif
