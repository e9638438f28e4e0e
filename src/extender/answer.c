/* answer: see answer.h. */
#include "extender/answer.h"
#include "base/clock.h"
#include "base/log.h"

void answer_text(struct exchange *exchange, struct buf *text)
{
    size_t len = text->len;
    exchange_answer(exchange, 200, "application/json", buf_take(text), len, 0);
}

void answer_scheduler_error(struct exchange *exchange, const char *text)
{
    struct buf answer;
    LOG(LOG_WARN, "extender", LOG_MSG("answered with an error"),
        LOG_NUM("id", exchange_id(exchange)), LOG_STR("path", exchange_path(exchange)),
        LOG_STR("err", text));
    buf_init(&answer, ANSWER_MAX_BYTES);
    buf_add_text(&answer, "{\"Error\":");
    buf_add_quoted(&answer, text);
    buf_add_text(&answer, "}");
    answer_text(exchange, &answer);
}

struct decision answer_record_of(enum decision_verb verb, const struct pod_facts *pod)
{
    return (struct decision){.verb = verb,
                             .namespace_ = pod->namespace_,
                             .name = pod->name,
                             .uid = pod->uid,
                             .group = pod->group,
                             .error = pod->refusal};
}

void answer_record_best(struct decision *decision, struct rank_place *const *places, size_t n,
                        const struct hashed_text *names)
{
    for (size_t i = 0; i < n && i < DECISION_BEST_MAX && places[i]->node; i++)
        decision->best[decision->n_best++] =
            (struct decision_choice){.node = names[places[i]->position].text,
                                     .score = places[i]->ranked->score,
                                     .cost = cost_sum(&places[i]->ranked->cost)};
}

void answer_record(const struct extender *extender, struct decision *decision, int64_t began_us)
{
    decision->at_ms = clock_wall_ms();
    decision->took_us = clock_us() - began_us;
    decisions_add(extender->decisions, decision);
}

void answer_count(struct extender *extender, enum decision_verb verb, enum verb_result result)
{
    counter_add(&extender->n_results[verb][result], 1);
}
