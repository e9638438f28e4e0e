/*
 * life: what befalls a cluster in a minute: pods come, finish and go, nodes change, other
 * schedulers bind; and the trouble that is planned: the API server and our service die, connections
 * break.
 */
#ifndef SIM_LIFE_H
#define SIM_LIFE_H

struct world;

/* The nodes are there, and all that will come is on the agenda. */
void life_begin(struct world *world);

#endif
