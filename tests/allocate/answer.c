/*
 * answer: allocate/ as a program, beside tests/allocate/oracle.go: each line of input is a question
 * (question.h), each line of output our answer.
 */
#include "device_json.h"
#include "question.h"

static json_t *result_json(const struct allocate_claim *claim, const struct allocate_result *result)
{
    const struct allocate_request *request = &claim->requests[result->request];
    const struct allocate_want *want = &request->wants[result->want];
    json_t *name = request->has_alternatives ? json_sprintf("%s/%s", request->name, want->name)
                                             : json_string(request->name);
    return json_pack("{s:o, s:s, s:s, s:s, s:b}", "request", name, "driver", result->slice->driver,
                     "pool", result->slice->pool, "device", result->device->name, "admin",
                     want->is_admin);
}

static json_t *results_json(const struct allocate_question *question,
                            const struct allocate_answer *answer)
{
    json_t *claims = json_array();
    for (size_t i = 0; i < question->n_claims; i++) {
        json_t *results = json_array();
        for (size_t j = 0; j < answer->results[i].n; j++)
            (void)json_array_append_new(
                results, result_json(&question->claims[i], &answer->results[i].devices[j]));
        (void)json_array_append_new(claims, results);
    }
    return claims;
}

static json_t *answer_json(const struct allocate_question *question,
                           const struct allocate_answer *answer)
{
    static const char *const names[] = {
        [ALLOCATE_FITS] = "fits",           [ALLOCATE_NO] = "no",
        [ALLOCATE_INVALID_POOLS] = "pools", [ALLOCATE_ELSEWHERE] = "elsewhere",
        [ALLOCATE_ERROR] = "error",         [ALLOCATE_NOT_JUDGED] = "not judged",
    };
    json_t *out = json_pack("{s:s, s:s, s:I}", "verdict", names[answer->verdict], "message",
                            answer->message, "steps", (json_int_t)answer->steps);
    if (answer->verdict == ALLOCATE_FITS)
        (void)json_object_set_new(out, "results", results_json(question, answer));
    return out;
}

static json_t *answer(const json_t *json, struct arena *arena)
{
    const struct allocate_question question = question_from_json(json, arena);
    const struct allocate_answer given = allocate_on_node(&question, arena);
    return answer_json(&question, &given);
}

int main(void)
{
    return answer_lines(0, answer);
}
