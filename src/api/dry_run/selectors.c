/* selectors: see selectors.h. */
#include "api/dry_run/selectors.h"
#include "api/dry_run/selector_hints.h"
#include "base/mem.h"

#include <string.h>

/* Steps of all selectors over all devices. About a second of one core. */
#define WORK_MAX ((uint64_t)20000000)

struct judge {
    struct dry_run *dry_run;
    struct selector_view views[2]; /* the second with devices of other drivers */
    uint64_t work_left;
};

struct judged_request {
    const struct asked_request *asked;
    struct selector_view *view;
    const char *fault; /* why it is not counted; NULL: it is */
    struct claims_count count;
};

static void warn_at(const struct judge *judge, const struct device_request *request,
                    const char *path, const char *message)
{
    dry_run_warn(judge->dry_run,
                 arena_printf(judge->dry_run->arena, "%s: %s", request->object, path), message);
}

static void warn(const struct judge *judge, const struct judged_request *judged, size_t i,
                 const char *message)
{
    const struct device_request *request = judged->asked->request;
    warn_at(judge, request, request->selectors[i].path, message);
}

/* A file that was saved without DeviceClasses does not show which classes exist. */
static bool has_no_classes(const struct asked_class *class)
{
    return class && class->not_judged && strcmp(class->not_judged, CLAIM_LOOKUP_NO_CLASSES) == 0;
}

static bool lacks_class(const struct asked_request *asked)
{
    return asked->class && !asked->class->request;
}

/* Devices for which a term alone is true; SIZE_MAX: not known. */
static size_t n_of_term(struct judge *judge, const struct judged_request *judged,
                        const struct cel_program *program, size_t i_term)
{
    const struct claims_seen *seen = &judged->view->seen;
    size_t n = 0;
    for (size_t i = 0; i < seen->n && judge->work_left > 0; i++) {
        struct arena *scratch CLEANUP(arena_free_ptr) = arena_new();
        struct cel_answer answer =
            cel_evaluate_term(program, i_term, seen->kinds[i].facts, scratch);
        judge->work_left -= answer.cost < judge->work_left ? answer.cost : judge->work_left;
        if (answer.verdict == CEL_NOT_JUDGED)
            return SIZE_MAX;
        n += answer.value ? seen->kinds[i].n : 0;
    }
    return judge->work_left > 0 ? n : SIZE_MAX;
}

static void warn_of_terms(struct judge *judge, const struct judged_request *judged, size_t i)
{
    struct arena *arena = judge->dry_run->arena;
    const struct cel_program *program = judged->asked->want.selectors.programs[i];
    for (size_t i_term = 0; i_term < cel_n_terms(program); i_term++) {
        const struct cel_term term = cel_term(program, i_term);
        const size_t n = n_of_term(judge, judged, program, i_term);
        const char *longer = NULL;
        if (n == 0)
            warn(judge, judged, i, selector_hint_of_term(&term, judged->view, arena));
        else if (n != SIZE_MAX && (longer = selector_hint_of_prefix(program, i_term, judged->view,
                                                                    &judge->work_left, arena)))
            warn(judge, judged, i, longer);
    }
}

/* The note that the class's selectors are unknown and might exclude the devices with the error; "":
 * they are known. */
static const char *unless_of(const struct judge *judge, const struct asked_request *asked)
{
    if (!lacks_class(asked))
        return "";
    return arena_printf(judge->dry_run->arena, ", unless the class %s leaves them out",
                        asked->request->class_name);
}

static void warn_of_errors(struct judge *judge, const struct judged_request *judged, size_t i,
                           const struct claims_selector *selector)
{
    struct arena *arena = judge->dry_run->arena;
    warn(judge, judged, i,
         arena_printf(arena,
                      "%s, on %zu of %zu devices; such an error rejects the pod on all nodes%s%s",
                      selector->error, selector->n_errors, selector->n_asked,
                      unless_of(judge, judged->asked),
                      selector_hint_of_error(judged->asked->want.selectors.programs[i],
                                             selector->error, judged->view, arena)));
}

/* Reports of a class of the cluster only the errors that reject pods. */
static void warn_of_selector(struct judge *judge, const struct judged_request *judged, size_t i,
                             bool is_of_manifest)
{
    const struct allocate_want *want = &judged->asked->want;
    const struct cel_program *program = want->selectors.programs[i];
    const struct claims_selector *selectors = judged->count.selectors;
    const struct claims_selector *selector =
        selectors ? &selectors[want->device_class->selectors.n + i] : NULL;
    const char *message = cel_message(program);
    if (cel_verdict(program) == CEL_INVALID)
        warn(judge, judged, i,
             arena_printf(judge->dry_run->arena, "%s%s", message,
                          selector_hint_of_compiler(judged->asked->request->selectors[i].expression,
                                                    message)));
    else if (cel_verdict(program) == CEL_VALID && selector && selector->n_errors > 0)
        warn_of_errors(judge, judged, i, selector);
    else if (cel_verdict(program) == CEL_VALID && judged->view->n_all > 0 && is_of_manifest)
        warn_of_terms(judge, judged, i);
}

static void warn_of_request(struct judge *judge, const struct judged_request *judged,
                            bool is_of_manifest)
{
    const struct asked_request *asked = judged->asked;
    struct arena *arena = judge->dry_run->arena;
    if (lacks_class(asked) && !asked->class->not_judged)
        warn_at(judge, asked->request,
                arena_printf(arena, "%s.deviceClassName", asked->request->path),
                arena_printf(arena, "there is no DeviceClass %s: the pod waits until there is%s",
                             asked->request->class_name, asked->class->meant));
    for (size_t i = 0; i < asked->want.selectors.n; i++)
        warn_of_selector(judge, judged, i, is_of_manifest);
}

static const char *message_of(const struct judge *judge, const struct judged_request *judged)
{
    struct arena *arena = judge->dry_run->arena;
    const struct asked_request *asked = judged->asked;
    const struct claims_count *count = &judged->count;
    if (count->not_judged)
        return arena_printf(arena, "not judged: %s", count->not_judged);
    if (count->n_errors > 0)
        return arena_printf(arena, "fails on some devices: the pod is rejected on all nodes%s",
                            unless_of(judge, asked));
    if (has_no_classes(asked->class))
        return arena_printf(arena,
                            "matches %zu of %zu devices without its class %s: the saved cluster "
                            "has no DeviceClasses",
                            count->n_matching, count->n_all, asked->request->class_name);
    if (lacks_class(asked))
        return arena_printf(arena,
                            "there is no DeviceClass %s; without it, the request matches %zu of "
                            "%zu devices",
                            asked->request->class_name, count->n_matching, count->n_all);
    return arena_printf(arena, "matches %zu of %zu devices", count->n_matching, count->n_all);
}

/* Of the first selector that cannot be asked; NULL: all can. */
static const char *fault_of_selectors(const struct allocate_selectors *selectors, const char *whose,
                                      struct arena *arena)
{
    size_t i = 0;
    while (i < selectors->n && cel_verdict(selectors->programs[i]) == CEL_VALID)
        i++;
    if (i == selectors->n)
        return NULL;
    if (cel_verdict(selectors->programs[i]) == CEL_INVALID)
        return arena_printf(arena, "a selector%s is invalid: the API server rejects it", whose);
    return arena_printf(arena, "not judged: %s%s", cel_message(selectors->programs[i]), whose);
}

/* Why the request cannot be counted at all; NULL: it can. */
static const char *fault_of(const struct asked_request *asked, struct arena *arena)
{
    const struct asked_class *class = asked->class;
    if (class && class->not_judged && !has_no_classes(class))
        return arena_printf(arena, "not judged: %s", class->not_judged);
    const char *fault = fault_of_selectors(&asked->want.selectors, "", arena);
    if (fault || !class)
        return fault;
    return fault_of_selectors(&class->class.selectors,
                              arena_printf(arena, " of the class %s", class->class.name), arena);
}

static struct judged_request judge_request(struct judge *judge, const struct asked_request *asked)
{
    struct arena *arena = judge->dry_run->arena;
    struct judged_request judged = {.asked = asked,
                                    .view = &judge->views[asked->needs_others],
                                    .fault = fault_of(asked, arena)};
    if (!judged.fault)
        judged.count = claims_count(&asked->want, &judged.view->seen, &judge->work_left, arena);
    return judged;
}

static json_t *request_json(const struct judge *judge, const struct judged_request *judged)
{
    const struct asked_request *asked = judged->asked;
    const struct claims_count *count = &judged->count;
    const bool is_counted =
        !judged->fault && !count->not_judged && count->n_errors == 0 && !lacks_class(asked);
    return json_pack(
        "{s:s, s:s, s:o, s:o, s:s}", "object", asked->request->object, "path", asked->request->path,
        "matching", is_counted ? json_integer((json_int_t)count->n_matching) : json_null(),
        "devices",
        judged->view->seen.not_judged ? json_null() : json_integer((json_int_t)judged->view->n_all),
        "message", judged->fault ? judged->fault : message_of(judge, judged));
}

static void warn_of_cut(const struct judge *judge)
{
    const char *message = arena_printf(
        judge->dry_run->arena,
        "has the first %zu requests with the first %zu selectors; the others are not judged",
        DEVICE_REQUESTS_MAX, DEVICE_SELECTORS_MAX);
    dry_run_warn(judge->dry_run, "deviceRequests", message);
}

json_t *selectors_judge(struct dry_run *dry_run, const struct device_request_list *requests)
{
    json_t *list = json_array();
    size_t n = 0;
    const struct asked_request *asked = claim_lookup_requests(dry_run->claims, &n);
    struct judge judge = {.dry_run = dry_run, .work_left = WORK_MAX};
    struct judged_request *judged = ARENA_ARRAY(dry_run->arena, struct judged_request, n);
    for (size_t i = 0; n > 0 && i < 2; i++)
        judge.views[i] =
            selector_view_of(claim_lookup_seen(dry_run->claims, i == 1), dry_run->hides_devices);
    for (size_t i = 0; i < n; i++)
        judged[i] = judge_request(&judge, &asked[i]);
    for (size_t i = 0; i < requests->n; i++)
        (void)json_array_append_new(list, request_json(&judge, &judged[i]));
    if (requests->is_cut)
        warn_of_cut(&judge);
    for (size_t i = 0; i < n; i++)
        warn_of_request(&judge, &judged[i], i < requests->n);
    for (size_t i = 0; i < 2; i++)
        selector_view_fini(&judge.views[i]);
    return list;
}
