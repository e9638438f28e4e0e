/*
 * answer: cel/ as a program, beside tests/cel/oracle.go: each line of input is an expression and
 * devices, each line of output our verdict on them.
 */
#include "base/mem.h"
#include "device_json.h"

static json_t *answer_json(enum cel_verdict verdict, bool value, const char *message)
{
    if (verdict == CEL_VALID)
        return json_pack("{s:b}", "value", value);
    return json_pack("{s:s}", verdict == CEL_INVALID ? "error" : "notJudged", message);
}

static json_t *answer(const json_t *question, struct arena *arena)
{
    struct cel_program *program = cel_compile(json_text(question, "expression"), arena);
    enum cel_verdict verdict = cel_verdict(program);
    json_t *out = json_object();
    if (verdict == CEL_INVALID)
        (void)json_object_set_new(out, "compileError", json_string(cel_message(program)));
    if (verdict == CEL_NOT_JUDGED)
        (void)json_object_set_new(out, "notJudged", json_string(cel_message(program)));
    json_t *verdicts = json_array();
    json_t *device;
    size_t i;
    json_array_foreach (json_object_get(question, "devices"), i, device) {
        if (verdict != CEL_VALID)
            break;
        struct arena *scratch CLEANUP(arena_free_ptr) = arena_new();
        struct cel_device facts = device_from_json(device, json_text(question, "driver"), scratch);
        struct cel_answer given = cel_evaluate(program, &facts, scratch);
        (void)json_array_append_new(verdicts,
                                    answer_json(given.verdict, given.value, given.message));
    }
    (void)json_object_set_new(out, "verdicts", verdicts);
    return out;
}

int main(void)
{
    return answer_lines(JSON_ALLOW_NUL, answer);
}
