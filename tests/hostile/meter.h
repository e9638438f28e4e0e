/*
 * meter: what an attack costs, in units that do not depend on what else the machine does: processor
 * time of this thread while it holds the ledger's lock, and bytes that are allocated.
 *
 * The program is linked so that calls of pthread_rwlock_* come through here.
 */
#ifndef HOSTILE_METER_H
#define HOSTILE_METER_H

#include <stddef.h>

/* Forgets the holds so far. */
void meter_reset(void);
size_t meter_n_holds(void);
/* Of the hold that took most, milliseconds of processor time. */
double meter_longest_hold_ms(void);

/* This thread's processor time, milliseconds. */
double meter_cpu_ms(void);
/* What malloc has handed out and not got back. */
double meter_bytes(void);

#endif
