/*
 * groups: conditions of groups of pods (gpu-extender.io/gang), beside those of every binding.
 */
#ifndef SIM_GROUPS_H
#define SIM_GROUPS_H

struct service;
struct world;

/* A binding is posted, with that body. Of a group of which nothing is bound, it must be the only
 * one under way, and all other pods must have a place. */
void groups_posted(struct service *service, const char *body);
/* A group without a whole plan keeps nothing; no plan is kept for longer than it may. */
void groups_check(struct service *service);
/* A complete group that waits in a quiet world although all of it fits; NULL: none. In the world's
 * arena. */
const char *groups_fault(struct world *world);

#endif
