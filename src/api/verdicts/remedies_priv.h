/*
 * remedies_priv: the kinds of remedies. Private to remedies*.c.
 */
#ifndef API_VERDICTS_REMEDIES_PRIV_H
#define API_VERDICTS_REMEDIES_PRIV_H

#include "api/verdicts/remedies.h"
#include "decide/fit.h"

struct remedy_search {
    const struct remedy_question *question;
    struct trials trials;
    const struct fit_question *failing;
    const struct pod_shape *shape; /* of the failing role */
    struct near_miss *near_miss;
    struct missing_name missing; /* of the headline */
    const struct need *divided;  /* of which the pods could ask for less; NULL: of all */
    int64_t divisor;             /* into so many parts */
    bool is_partial;             /* some changes that may be enough have no trial */
    json_t *found;
    struct arena *arena;
};

/* Nodes, and requirements of a selector, that are tried one by one. */
#define NODES_TRIED ((size_t)3)

/* Each adds at most one remedy, if a trial shows that it is enough. */
void remedies_correct(struct remedy_search *search);
void remedies_accept(struct remedy_search *search);
void remedies_ask_less(struct remedy_search *search);
void remedies_wait(struct remedy_search *search);
void remedies_administer(struct remedy_search *search);
/* The last resort: another resource, though there is the one that they ask for. */
void remedies_replace(struct remedy_search *search);

/* Adds one. Takes the change, NULL: none. */
void remedies_offer(struct remedy_search *search, const char *kind, const char *text,
                    const struct trial_end *end, json_t *change);
/* Of several alternatives, the node is that of the last pod of each. */
void remedies_add_end(struct trial_end *all, const struct trial_end *end);
/* Whether it names its node. */
bool remedies_has_node_name(const struct fit_question *question);
/* What the roles ask for, to be changed. */
struct shape_facts *remedies_copy_facts(const struct remedy_search *search);
/* Whether all pods fit if they ask for this. */
bool remedies_try(struct remedy_search *search, const struct shape_facts *facts,
                  struct trial_end *ret_end);
/* A node that the failing pod would fit but for this cause; NULL: no more. Start with *at 0. */
const struct node *remedies_next_near(const struct remedy_search *search, enum verdict_cause cause,
                                      size_t *at);
/* taint NULL: any effect. */
void remedies_tolerate(const struct remedy_search *search, struct shape_facts *facts,
                       const char *key, const struct taint *taint);
/* Whether all pods ask for the same amounts. */
bool remedies_are_alike(const struct remedy_search *search);
/* A DaemonSet also makes pods for nodes that can never run them, unless a label leaves them out.
 * Adds such a label, and returns whether that is enough. */
bool remedies_choose_nodes(struct remedy_search *search);
/* "a, b", or "a or b" with the last name. */
const char *remedies_join(const char *text, const char *name, bool is_last, const char *joint,
                          struct arena *arena);

#endif
