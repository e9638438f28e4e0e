/*
 * cel: see include/cel/cel.h.
 */
#include "cel_priv.h"
#include "lexer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 4, 0))) static bool set_fault(struct cel_fault *fault,
                                                            enum cel_verdict verdict,
                                                            const char *prefix, const char *format,
                                                            va_list args)
{
    if (fault->verdict == CEL_VALID) {
        fault->verdict = verdict;
        fault->message =
            arena_printf(fault->arena, "%s%s", prefix, cel_format(fault->arena, format, args));
    }
    return false;
}

bool cel_invalid(struct cel_fault *fault, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)set_fault(fault, CEL_INVALID, "", format, args);
    va_end(args);
    return false;
}

bool cel_invalid_at(struct cel_fault *fault, size_t at, const char *format, ...)
{
    char prefix[80];
    size_t line = 1;
    size_t from = 0;
    for (size_t i = 0; i < at && i < fault->source.len; i++) {
        if (fault->source.bytes[i] == '\n') {
            line++;
            from = i + 1;
        }
    }
    size_t column = cel_utf8_count((struct cel_text){fault->source.bytes + from, at - from});
    (void)snprintf(prefix, sizeof prefix, "compilation failed: ERROR: <input>:%zu:%zu: ", line,
                   column + 1);
    va_list args;
    va_start(args, format);
    (void)set_fault(fault, CEL_INVALID, prefix, format, args);
    va_end(args);
    return false;
}

bool cel_not_judged(struct cel_fault *fault, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)set_fault(fault, CEL_NOT_JUDGED, "", format, args);
    va_end(args);
    return false;
}

struct cel_program *cel_compile(const char *expression, struct arena *arena)
{
    struct cel_program *program = ARENA_NEW(arena, struct cel_program);
    size_t len = strnlen(expression, CEL_LENGTH_MAX + 1);
    program->fault = (struct cel_fault){.message = "", .arena = arena};
    if (len > CEL_LENGTH_MAX) {
        (void)cel_not_judged(&program->fault, "it has more than %d bytes", CEL_LENGTH_MAX);
        return program;
    }
    struct cel_text source = {arena_strndup(arena, expression, len), len};
    program->expression = source.bytes;
    program->fault.source = source;
    if (!cel_utf8_is_valid(source)) {
        (void)cel_not_judged(&program->fault, "it is not UTF-8");
        return program;
    }
    program->root = cel_parse(source, &program->fault);
    if (!program->root || !cel_check(program->root, &program->fault))
        return program;
    if (cel_cost_bound(program->root) > CEL_COST_MAX) {
        (void)cel_not_judged(&program->fault,
                             "kube-apiserver may reject it as too complex (estimated cost)");
    } else {
        cel_find_reads(program, arena);
        cel_find_terms(program, arena);
    }
    return program;
}

enum cel_verdict cel_verdict(const struct cel_program *program)
{
    return program->fault.verdict;
}

const char *cel_message(const struct cel_program *program)
{
    return program->fault.message;
}

const struct cel_read *cel_reads(const struct cel_program *program, size_t *ret_n)
{
    *ret_n = program->n_reads;
    return program->reads;
}

static struct cel_value value_of(struct cel_run *run, const struct cel_fact *fact)
{
    struct cel_text text = {fact->text, fact->text ? strlen(fact->text) : 0};
    struct cel_value value = {.kind = V_QUANTITY};
    bool is_judged;
    if (fact->kind == CEL_BOOL)
        return cel_bool(fact->boolean);
    if (fact->kind == CEL_INT)
        return cel_int(fact->integer);
    if (fact->kind == CEL_STRING && cel_utf8_is_valid(text))
        return cel_string(text);
    if (fact->kind == CEL_VERSION) {
        struct cel_semver *version = ARENA_NEW(run->arena, struct cel_semver);
        if (!cel_semver_parse(text, run->arena, version))
            return (struct cel_value){.kind = V_SEMVER, .semver = version};
    }
    if (fact->kind == CEL_QUANTITY && !cel_quantity_parse(text, &value.quantity, &is_judged) &&
        is_judged)
        return value;
    return cel_stop(run, "the device has a value that cannot be read: %s/%s", fact->domain,
                    fact->name);
}

static struct cel_answer answer_of(const struct cel_run *run, struct cel_value value)
{
    struct cel_answer answer = {.verdict = CEL_INVALID, .message = "", .cost = run->cost};
    if (run->stop.verdict != CEL_VALID) {
        answer.verdict = run->stop.verdict;
        answer.message = run->stop.message;
    } else if (value.kind == V_BOOL) {
        answer.verdict = CEL_VALID;
        answer.value = value.boolean;
    } else if (value.kind == V_ERROR) {
        answer.message = arena_strndup(run->arena, value.text.bytes, value.text.len);
    } else {
        answer.message =
            arena_printf(run->arena, "CEL result of type %s could not be converted to bool",
                         cel_type_name(&value));
    }
    return answer;
}

static struct cel_answer evaluate(const struct cel_node *node, const struct cel_device *device,
                                  struct arena *arena)
{
    struct cel_run run = {.device = device, .arena = arena, .cost = device->n_facts};
    if (device->unsupported)
        return answer_of(&run, cel_error(&run, "attribute %s: unsupported attribute value",
                                         device->unsupported));
    struct cel_value *facts = ARENA_ARRAY(arena, struct cel_value, device->n_facts + 1);
    for (size_t i = 0; i < device->n_facts; i++)
        facts[i] = value_of(&run, &device->facts[i]);
    run.facts = facts;
    if (run.stop.verdict != CEL_VALID)
        return answer_of(&run, facts[0]);
    return answer_of(&run, cel_run_node(&run, node));
}

struct cel_answer cel_evaluate(const struct cel_program *program, const struct cel_device *device,
                               struct arena *arena)
{
    return evaluate(program->root, device, arena);
}

size_t cel_n_terms(const struct cel_program *program)
{
    return program->n_terms;
}

struct cel_term cel_term(const struct cel_program *program, size_t i)
{
    return program->terms[i].shown;
}

struct cel_answer cel_evaluate_term(const struct cel_program *program, size_t i,
                                    const struct cel_device *device, struct arena *arena)
{
    return evaluate(program->terms[i].node, device, arena);
}
