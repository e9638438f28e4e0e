/*
 * life: events of a simulated minute: pods arrive, finish and are deleted, nodes change, other
 * schedulers bind. And planned faults: API server and service die, connections break.
 */
#ifndef SIM_LIFE_H
#define SIM_LIFE_H

struct world;

/* Creates the nodes and puts all events on the agenda. */
void life_begin(struct world *world);

#endif
