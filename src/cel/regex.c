/*
 * regex: see regex.h. A pattern becomes instructions; all places where the match may be are
 * followed at once, so the time is linear in the text.
 */
#include "regex.h"
#include "base/mem.h"

#include <string.h>

enum instruction_op { I_CLASS, I_ASSERT, I_SPLIT, I_JUMP, I_MATCH };

struct instruction {
    enum instruction_op op;
    enum regex_op assertion;
    uint32_t next, other; /* I_SPLIT has both */
    const struct regex_class *class;
};

struct cel_regex {
    struct instruction *code;
    size_t n;
    size_t n_ranges;
};

struct compiler {
    struct instruction *code;
    uint32_t n;
    size_t n_ranges;
    bool is_full;
};

#define NO_PLACE UINT32_MAX

static uint32_t emit(struct compiler *compiler, enum instruction_op op)
{
    if (compiler->n + 1 >= CEL_REGEX_INSTRUCTIONS_MAX) {
        compiler->is_full = true;
        return compiler->n;
    }
    compiler->code[compiler->n] = (struct instruction){.op = op, .next = compiler->n + 1};
    return compiler->n++;
}

static void compile(struct compiler *compiler, const struct regex_node *node);

static void compile_repeat(struct compiler *compiler, const struct regex_node *node)
{
    const struct regex_node *sub = node->subs[0];
    for (int i = 0; i < node->min && !compiler->is_full; i++)
        compile(compiler, sub);
    if (node->max < 0) {
        uint32_t split = emit(compiler, I_SPLIT);
        compile(compiler, sub);
        compiler->code[emit(compiler, I_JUMP)].next = split;
        compiler->code[split].other = compiler->n;
        return;
    }
    for (int i = node->min; i < node->max && !compiler->is_full; i++) {
        uint32_t split = emit(compiler, I_SPLIT);
        compile(compiler, sub);
        compiler->code[split].other = compiler->n;
    }
}

static void compile_alternate(struct compiler *compiler, const struct regex_node *node)
{
    uint32_t previous_jump = NO_PLACE;
    for (size_t i = 0; i < node->n_subs && !compiler->is_full; i++) {
        bool is_last = i + 1 == node->n_subs;
        uint32_t split = is_last ? 0 : emit(compiler, I_SPLIT);
        compile(compiler, node->subs[i]);
        if (is_last)
            break;
        uint32_t jump = emit(compiler, I_JUMP);
        compiler->code[jump].other = previous_jump; /* a list of those that jump to the end */
        previous_jump = jump;
        compiler->code[split].other = compiler->n;
    }
    while (previous_jump != NO_PLACE && !compiler->is_full) {
        struct instruction *jump = &compiler->code[previous_jump];
        previous_jump = jump->other;
        jump->next = compiler->n;
    }
}

static void compile(struct compiler *compiler, const struct regex_node *node)
{
    uint32_t at;
    switch (node->op) {
    case R_CLASS:
        at = emit(compiler, I_CLASS);
        compiler->code[at].class = &node->class;
        compiler->n_ranges += node->class.n;
        return;
    case R_CONCAT:
        for (size_t i = 0; i < node->n_subs && !compiler->is_full; i++)
            compile(compiler, node->subs[i]);
        return;
    case R_ALTERNATE:
        compile_alternate(compiler, node);
        return;
    case R_REPEAT:
        compile_repeat(compiler, node);
        return;
    case R_BEGIN_TEXT:
    case R_END_TEXT:
    case R_BEGIN_LINE:
    case R_END_LINE:
    case R_WORD:
    case R_NOT_WORD:
        at = emit(compiler, I_ASSERT);
        compiler->code[at].assertion = node->op;
        return;
    }
}

const struct cel_regex *cel_regex_compile(struct cel_text pattern, struct arena *arena,
                                          enum cel_verdict *ret_verdict)
{
    struct regex_parser parser = {.pattern = pattern, .arena = arena};
    struct regex_node *root = cel_regex_parse(&parser);
    *ret_verdict = parser.verdict;
    if (!root)
        return NULL;
    struct instruction *code CLEANUP(mem_free_ptr) =
        MEM_ARRAY(struct instruction, CEL_REGEX_INSTRUCTIONS_MAX);
    struct compiler compiler = {.code = code};
    compile(&compiler, root);
    (void)emit(&compiler, I_MATCH);
    if (compiler.is_full) {
        *ret_verdict = CEL_NOT_JUDGED;
        return NULL;
    }
    struct cel_regex *regex = ARENA_NEW(arena, struct cel_regex);
    regex->code = arena_copy(arena, code, compiler.n, sizeof *code);
    regex->n = compiler.n;
    regex->n_ranges = compiler.n_ranges;
    return regex;
}

size_t cel_regex_size(const struct cel_regex *regex)
{
    return regex->n + regex->n_ranges;
}

#define NO_POINT UINT32_MAX

struct places {
    size_t *items;
    size_t n;
    size_t *marks; /* per instruction: the step in which it was added last, plus one */
};

struct matcher {
    const struct cel_regex *regex;
    size_t *stack;
    size_t step;
    uint32_t before, after; /* the characters beside the current place */
};

static bool is_word(uint32_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

static bool holds(const struct matcher *matcher, enum regex_op assertion)
{
    bool at_word = is_word(matcher->before) != is_word(matcher->after);
    if (assertion == R_BEGIN_TEXT)
        return matcher->before == NO_POINT;
    if (assertion == R_END_TEXT)
        return matcher->after == NO_POINT;
    if (assertion == R_BEGIN_LINE)
        return matcher->before == NO_POINT || matcher->before == '\n';
    if (assertion == R_END_LINE)
        return matcher->after == NO_POINT || matcher->after == '\n';
    return at_word == (assertion == R_WORD);
}

/* Adds the places that are reached from an instruction without a character. True: a match. */
static bool follow(struct matcher *matcher, struct places *places, size_t from)
{
    size_t n = 0;
    matcher->stack[n++] = from;
    while (n > 0) {
        size_t i = matcher->stack[--n];
        const struct instruction *instruction = &matcher->regex->code[i];
        if (places->marks[i] == matcher->step)
            continue;
        places->marks[i] = matcher->step;
        if (instruction->op == I_MATCH)
            return true;
        if (instruction->op == I_CLASS) {
            places->items[places->n++] = i;
            continue;
        }
        if (instruction->op == I_ASSERT && !holds(matcher, instruction->assertion))
            continue;
        if (instruction->op == I_SPLIT)
            matcher->stack[n++] = instruction->other;
        matcher->stack[n++] = instruction->next;
    }
    return false;
}

static bool in_class(const struct regex_class *class, uint32_t point)
{
    for (size_t i = 0; i < class->n; i++)
        if (point >= class->ranges[i].from && point <= class->ranges[i].to)
            return true;
    return false;
}

/* All places after the character. True: a match. */
static bool advance(struct matcher *matcher, const struct places *now, struct places *next,
                    uint32_t point)
{
    next->n = 0;
    for (size_t i = 0; i < now->n; i++) {
        const struct instruction *instruction = &matcher->regex->code[now->items[i]];
        if (in_class(instruction->class, point) && follow(matcher, next, instruction->next))
            return true;
    }
    return follow(matcher, next, 0);
}

bool cel_regex_match(const struct cel_regex *regex, struct cel_text text, struct arena *arena)
{
    size_t *memory = ARENA_ARRAY(arena, size_t, 6 * regex->n + 8);
    struct matcher matcher = {.regex = regex, .stack = memory + 4 * regex->n, .step = 1};
    struct places now = {.items = memory, .marks = memory + regex->n};
    struct places next = {.items = memory + 2 * regex->n, .marks = memory + 3 * regex->n};
    size_t at = 0;
    matcher.before = NO_POINT;
    matcher.after = text.len == 0 ? NO_POINT : cel_utf8_get(text, &at);
    if (follow(&matcher, &now, 0))
        return true;
    while (matcher.after != NO_POINT) {
        uint32_t point = matcher.after;
        matcher.before = point;
        matcher.after = at < text.len ? cel_utf8_get(text, &at) : NO_POINT;
        matcher.step++;
        if (advance(&matcher, &now, &next, point))
            return true;
        struct places swap = now;
        now = next;
        next = swap;
    }
    return false;
}
