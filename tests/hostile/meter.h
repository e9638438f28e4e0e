/*
 * meter: the cost of an attack, independent of other load: CPU time of this thread while it holds
 * the ledger's lock, and allocated bytes.
 *
 * The linker redirects pthread_rwlock_* here.
 */
#ifndef HOSTILE_METER_H
#define HOSTILE_METER_H

#include <stddef.h>

/* Resets the counts of holds, and the most bytes. */
void meter_reset(void);
size_t meter_n_holds(void);
/* CPU time of the longest hold in milliseconds: of all, and of those to write. */
double meter_longest_hold_ms(void);
double meter_longest_write_ms(void);

/* This thread's CPU time in milliseconds. */
double meter_cpu_ms(void);
/* Bytes allocated by malloc and not freed. */
double meter_bytes(void);
/* The most of them since meter_reset(), above those at that time. In a build without
 * AddressSanitizer: bytes of resident memory. */
double meter_most_bytes(void);

#endif
