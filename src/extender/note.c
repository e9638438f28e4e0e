/* note: see note.h. */
#include "note.h"
#include "base/clock.h"

struct decision note_of_pod(enum decision_verb verb, const struct pod_facts *pod)
{
    return (struct decision){.verb = verb,
                             .namespace_ = pod->namespace_,
                             .name = pod->name,
                             .uid = pod->uid,
                             .error = pod->refusal};
}

void note_best(struct decision *decision, const struct ranked_node *ranked, size_t n,
               const char *const *names)
{
    for (size_t i = 0; i < n && i < DECISION_BEST_MAX && ranked[i].node; i++)
        decision->best[decision->n_best++] =
            (struct decision_choice){.node = names[ranked[i].position],
                                     .score = ranked[i].score,
                                     .cost = cost_sum(&ranked[i].cost)};
}

void note_answer(const struct extender *extender, struct decision *decision, int64_t began_us)
{
    decision->at_ms = clock_wall_ms();
    decision->took_us = clock_us() - began_us;
    decisions_add(extender->decisions, decision);
}

void note_result(struct extender *extender, enum decision_verb verb, enum verb_result result)
{
    counter_add(&extender->n_results[verb][result], 1);
}
