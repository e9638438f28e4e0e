/* claims_count: see include/dra/claims_count.h. */
#include "dra/claims_count.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "types/quantity.h"

#include <string.h>

/* A selector, and the terms that it consists of. */
struct counted_selector {
    const struct cel_program *whole;
    const char *const *texts;
    const struct cel_program **terms; /* compiled when a device fails; NULL: not yet */
    size_t n_terms;
    bool is_of_class;
    size_t index;
};

struct counting {
    struct arena *arena;
    uint64_t *steps_left;
    struct counted_selector *selectors;
    struct claims_selector *asked; /* of each */
    size_t n_selectors;
    struct claims_removal *removals;
    uint64_t *distances; /* of each removal's nearest */
    struct claims_count count;
};

/* False: the work is too much. */
static bool spend(struct counting *counting, uint64_t steps)
{
    const bool is_enough = steps < *counting->steps_left;
    *counting->steps_left -= is_enough ? steps : *counting->steps_left;
    if (!is_enough)
        counting->count.not_judged = "too much work for one answer";
    return is_enough;
}

static void add_selectors(struct counting *counting, const struct allocate_selectors *selectors,
                          bool is_of_class)
{
    struct claims_count *count = &counting->count;
    for (size_t i = 0; i < selectors->n && !count->not_judged; i++) {
        const struct cel_program *program = selectors->programs[i];
        if (!program)
            count->not_judged = "a selector is not CEL";
        else if (cel_verdict(program) != CEL_VALID)
            count->not_judged = cel_message(program);
        counting->selectors[counting->n_selectors++] =
            (struct counted_selector){.whole = program, .is_of_class = is_of_class, .index = i};
    }
}

/* ---- the nearest value ---- */

static const struct cel_fact *find_fact(const struct cel_device *device,
                                        const struct cel_read *read)
{
    for (size_t i = 0; i < device->n_facts; i++) {
        const struct cel_fact *fact = &device->facts[i];
        if ((fact->kind == CEL_QUANTITY) == read->is_capacity &&
            strcmp(fact->domain, read->domain) == 0 && strcmp(fact->name, read->name) == 0)
            return fact;
    }
    return NULL;
}

static uint64_t distance_of_amounts(const char *a, const char *b)
{
    int64_t left = 0, right = 0;
    struct err err;
    if (quantity_value(a, &left, &err) < 0 || quantity_value(b, &right, &err) < 0)
        return UINT64_MAX;
    return left > right ? (uint64_t)left - (uint64_t)right : (uint64_t)right - (uint64_t)left;
}

/* A text that has the other in it is nearer than any that is written differently. */
static uint64_t distance_of_texts(const char *value, const char *literal)
{
    const size_t distance = nearest_distance(value, literal);
    if (strcasestr(value, literal))
        return strlen(value) - strlen(literal);
    return distance == SIZE_MAX ? UINT64_MAX : UINT32_MAX + (uint64_t)distance;
}

static void look_nearer(struct counting *counting, size_t i, const struct cel_program *term,
                        const struct cel_device *device)
{
    if (cel_n_terms(term) == 0)
        return;
    const struct cel_term compared = cel_term(term, 0);
    const struct cel_fact *fact = find_fact(device, &compared.read);
    if (!fact || !fact->text)
        return;
    const uint64_t distance = compared.kind == CEL_TERM_QUANTITY
                                  ? distance_of_amounts(fact->text, compared.literal)
                                  : distance_of_texts(fact->text, compared.literal);
    struct claims_removal *removal = &counting->removals[i];
    if (removal->nearest && distance >= counting->distances[i])
        return;
    removal->nearest = fact->text;
    counting->distances[i] = distance;
}

/* ---- what rules out a device ---- */

static bool split(struct counting *counting, struct counted_selector *selector)
{
    if (selector->texts)
        return true;
    selector->texts = cel_conjuncts(selector->whole, counting->arena, &selector->n_terms);
    selector->terms = ARENA_ARRAY(counting->arena, const struct cel_program *, selector->n_terms);
    return spend(counting, selector->n_terms);
}

static const struct cel_program *term_of(struct counting *counting,
                                         struct counted_selector *selector, size_t i)
{
    if (!selector->terms[i] && spend(counting, 10 * strlen(selector->texts[i])))
        selector->terms[i] = cel_compile(selector->texts[i], counting->arena);
    return selector->terms[i];
}

static struct cel_answer evaluate(struct counting *counting, const struct cel_program *program,
                                  const struct cel_device *device)
{
    struct arena *scratch CLEANUP(arena_free_ptr) = arena_new();
    struct cel_answer answer = cel_evaluate(program, device, scratch);
    if (answer.message[0])
        answer.message = arena_strdup(counting->arena, answer.message);
    (void)spend(counting, 1 + answer.cost);
    return answer;
}

/* The first term that is false of the device; the last one if none is. */
static size_t first_false(struct counting *counting, struct counted_selector *selector,
                          const struct cel_device *device)
{
    for (size_t i = 0; i < selector->n_terms; i++) {
        const struct cel_program *term = term_of(counting, selector, i);
        if (!term || cel_verdict(term) != CEL_VALID)
            continue;
        const struct cel_answer answer = evaluate(counting, term, device);
        if (answer.verdict == CEL_VALID && !answer.value)
            return i;
    }
    return selector->n_terms - 1;
}

/* Returns its index; CLAIMS_REMOVALS_MAX: there is no room. */
static size_t removal_of(struct counting *counting, const struct counted_selector *selector,
                         size_t term)
{
    struct claims_count *count = &counting->count;
    for (size_t i = 0; i < count->n_removals; i++) {
        if (counting->removals[i].term == selector->texts[term])
            return i;
    }
    if (count->n_removals == CLAIMS_REMOVALS_MAX)
        return CLAIMS_REMOVALS_MAX;
    counting->removals[count->n_removals] =
        (struct claims_removal){.is_of_class = selector->is_of_class,
                                .selector = selector->index,
                                .term = selector->texts[term]};
    return count->n_removals++;
}

static void remove_kind(struct counting *counting, struct counted_selector *selector,
                        const struct device_copy_kind *kind)
{
    if (!split(counting, selector))
        return;
    const size_t term = first_false(counting, selector, kind->facts);
    const size_t i = removal_of(counting, selector, term);
    if (i == CLAIMS_REMOVALS_MAX)
        return;
    counting->removals[i].n += kind->n;
    if (selector->terms[term] && cel_verdict(selector->terms[term]) == CEL_VALID)
        look_nearer(counting, i, selector->terms[term], kind->facts);
}

/* Whether the devices pass all selectors. */
static bool passes(struct counting *counting, const struct device_copy_kind *kind)
{
    struct claims_count *count = &counting->count;
    for (size_t i = 0; i < counting->n_selectors; i++) {
        if (kind->not_judged) {
            count->not_judged = kind->not_judged;
            return false;
        }
        struct counted_selector *selector = &counting->selectors[i];
        struct claims_selector *asked = &counting->asked[i];
        const struct cel_answer answer = evaluate(counting, selector->whole, kind->facts);
        if (answer.verdict == CEL_NOT_JUDGED)
            count->not_judged = answer.message;
        asked->n_asked += kind->n;
        if (answer.verdict == CEL_INVALID) {
            asked->error = asked->error ? asked->error : answer.message;
            asked->n_errors += kind->n;
            count->n_errors += kind->n;
            count->error = answer.message;
        } else if (!answer.value) {
            remove_kind(counting, selector, kind);
        }
        if (answer.verdict != CEL_VALID || !answer.value)
            return false;
    }
    return true;
}

static void count_kind(struct counting *counting, const struct allocate_want *want,
                       const struct device_copy_kind *kind)
{
    struct claims_count *count = &counting->count;
    if (!passes(counting, kind))
        return;
    const bool is_tainted = allocate_keeps_off(want, kind->taints, kind->n_taints);
    count->n_matching += kind->n;
    count->n_tainted += is_tainted ? kind->n : 0;
    if (!is_tainted && (kind->is_free || want->is_admin))
        count->n_free += kind->n;
    (void)spend(counting, 1 + kind->n_taints * want->n_tolerations);
}

struct claims_count claims_count(const struct allocate_want *want, const struct claims_seen *seen,
                                 uint64_t *steps_left, struct arena *arena)
{
    if (seen->not_judged)
        return (struct claims_count){.not_judged = seen->not_judged, .lacks_devices = true};
    const struct allocate_selectors *of_class = &want->device_class->selectors;
    const size_t n_selectors = of_class->n + want->selectors.n;
    struct counting counting = {
        .arena = arena,
        .steps_left = steps_left,
        .selectors = ARENA_ARRAY(arena, struct counted_selector, n_selectors),
        .asked = ARENA_ARRAY(arena, struct claims_selector, n_selectors),
        .removals = ARENA_ARRAY(arena, struct claims_removal, CLAIMS_REMOVALS_MAX),
        .distances = ARENA_ARRAY(arena, uint64_t, CLAIMS_REMOVALS_MAX),
        .count = {.not_judged = want->not_judged},
    };
    add_selectors(&counting, of_class, true);
    add_selectors(&counting, &want->selectors, false);
    for (size_t i = 0; i < seen->n; i++) {
        counting.count.n_all += seen->kinds[i].n;
        if (!counting.count.not_judged)
            count_kind(&counting, want, &seen->kinds[i]);
    }
    counting.count.removals = counting.removals;
    counting.count.selectors = counting.asked;
    return counting.count;
}
