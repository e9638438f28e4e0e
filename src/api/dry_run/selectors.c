/* selectors: see selectors.h. */
#include "api/dry_run/selectors.h"
#include "api/dry_run/device_view.h"
#include "api/dry_run/selector_hints.h"
#include "base/mem.h"

#include <string.h>

/* Steps of all selectors over all devices. About a second of one core. */
#define WORK_MAX ((uint64_t)20000000)
#define READS_MAX ((size_t)512)

/* A selector, compiled, and what became of it. */
struct judged_selector {
    const struct device_request *request;
    const struct device_selector *selector;
    struct cel_program *program;
    size_t n_asked, n_errors, n_not_judged; /* devices */
    const char *error;                      /* of the first device that errs */
};

struct judge {
    struct dry_run *dry_run;
    const struct device_request_list *requests;
    struct judged_selector *selectors; /* of all requests, one after another */
    size_t *first;                     /* of each request: its place in selectors */
    struct device_view view;
    uint64_t work_left;
};

/* Devices of one request. */
struct count {
    size_t n_matching;
    const char *not_judged; /* why, or NULL */
    bool has_error;
};

static void warn(const struct judge *judge, const struct judged_selector *selector,
                 const char *message)
{
    json_t *warnings = judge->dry_run->name_warnings;
    const char *path = arena_printf(judge->dry_run->arena, "%s: %s", selector->request->object,
                                    selector->selector->path);
    if (json_array_size(warnings) < WORKLOAD_WARNINGS_MAX)
        (void)json_array_append_new(warnings,
                                    json_pack("{s:s, s:s}", "path", path, "message", message));
}

static void compile_all(struct judge *judge)
{
    struct arena *arena = judge->dry_run->arena;
    const struct device_request_list *requests = judge->requests;
    size_t n = 0;
    judge->selectors = ARENA_ARRAY(arena, struct judged_selector, requests->n_selectors);
    judge->first = ARENA_ARRAY(arena, size_t, requests->n + 1);
    for (size_t i = 0; i < requests->n; i++) {
        const struct device_request *request = &requests->items[i];
        judge->first[i] = n;
        for (size_t j = 0; j < request->n_selectors; j++)
            judge->selectors[n++] = (struct judged_selector){
                .request = request,
                .selector = &request->selectors[j],
                .program = cel_compile(request->selectors[j].expression, arena)};
    }
    judge->first[requests->n] = n;
}

static void read_devices(struct judge *judge)
{
    struct arena *arena = judge->dry_run->arena;
    struct cel_read *reads = ARENA_ARRAY(arena, struct cel_read, READS_MAX);
    size_t n = 0;
    for (size_t i = 0; i < judge->first[judge->requests->n]; i++) {
        size_t n_own = 0;
        const struct cel_program *program = judge->selectors[i].program;
        const struct cel_read *own =
            cel_verdict(program) == CEL_VALID ? cel_reads(program, &n_own) : NULL;
        for (size_t j = 0; j < n_own && n + 2 < READS_MAX; j++)
            reads[n++] = own[j];
    }
    if (n + 2 >= READS_MAX) { /* all is read */
        n = 0;
        reads[n++] = (struct cel_read){.is_capacity = false};
        reads[n++] = (struct cel_read){.is_capacity = true};
    }
    device_view_read(judge->dry_run->api->inventory, reads, n, arena, &judge->view);
}

/* The class in the manifest; n: it has none. */
static size_t class_of(const struct judge *judge, const struct device_request *request)
{
    size_t i = 0;
    while (i < judge->requests->n &&
           (!judge->requests->items[i].is_class || request->is_class ||
            strcmp(judge->requests->items[i].class_name, request->class_name) != 0))
        i++;
    return i;
}

/* True if the device passes; an error or an unknown answer ends the request's count of it. */
static bool passes(struct judge *judge, struct judged_selector *selector,
                   const struct seen_device *seen, struct count *count)
{
    struct arena *scratch CLEANUP(arena_free_ptr) = arena_new();
    if (cel_verdict(selector->program) != CEL_VALID)
        return false;
    if (judge->work_left == 0 || seen->lacks_attributes) {
        count->not_judged = seen->lacks_attributes ? "a device has too many attributes"
                                                   : "too much work for one answer";
        return false;
    }
    struct cel_answer answer = cel_evaluate(selector->program, &seen->device, scratch);
    judge->work_left -= answer.cost < judge->work_left ? answer.cost : judge->work_left;
    selector->n_asked += seen->n;
    if (answer.verdict == CEL_INVALID) {
        count->has_error = true;
        if (selector->n_errors == 0)
            selector->error = arena_strdup(judge->dry_run->arena, answer.message);
        selector->n_errors += seen->n;
    }
    if (answer.verdict == CEL_NOT_JUDGED)
        count->not_judged = arena_strdup(judge->dry_run->arena, answer.message);
    return answer.verdict == CEL_VALID && answer.value;
}

static bool passes_all(struct judge *judge, size_t i_request, const struct seen_device *seen,
                       struct count *count)
{
    for (size_t i = judge->first[i_request]; i < judge->first[i_request + 1]; i++)
        if (!passes(judge, &judge->selectors[i], seen, count))
            return false;
    return true;
}

/* Devices that the class cannot mean: the ledger knows of a class only its driver. */
static bool is_of_class(const struct judge *judge, const struct device_request *request,
                        const struct seen_device *seen)
{
    const char *driver =
        request->is_class ? ""
                          : cluster_device_class_driver(judge->dry_run->fork, request->class_name);
    return driver[0] == '\0' || strcmp(driver, seen->device.driver) == 0;
}

static const char *compile_fault(const struct judge *judge, size_t i_request, bool *ret_invalid)
{
    for (size_t i = judge->first[i_request]; i < judge->first[i_request + 1]; i++) {
        const struct cel_program *program = judge->selectors[i].program;
        *ret_invalid = cel_verdict(program) == CEL_INVALID;
        if (cel_verdict(program) != CEL_VALID)
            return cel_message(program);
    }
    return NULL;
}

static struct count count_devices(struct judge *judge, size_t i_request, size_t i_class)
{
    struct count count = {0};
    for (size_t i = 0; i < judge->view.n; i++) {
        const struct seen_device *seen = &judge->view.devices[i];
        bool has_class = i_class < judge->requests->n;
        if (has_class ? !passes_all(judge, i_class, seen, &count)
                      : !is_of_class(judge, &judge->requests->items[i_request], seen))
            continue;
        if (passes_all(judge, i_request, seen, &count))
            count.n_matching += seen->n;
    }
    return count;
}

/* Devices for which a term alone is true. */
static size_t n_of_term(struct judge *judge, const struct judged_selector *selector, size_t i_term)
{
    size_t n = 0;
    for (size_t i = 0; i < judge->view.n && judge->work_left > 0; i++) {
        struct arena *scratch CLEANUP(arena_free_ptr) = arena_new();
        struct cel_answer answer =
            cel_evaluate_term(selector->program, i_term, &judge->view.devices[i].device, scratch);
        judge->work_left -= answer.cost < judge->work_left ? answer.cost : judge->work_left;
        if (answer.verdict == CEL_NOT_JUDGED)
            return SIZE_MAX;
        n += answer.value ? judge->view.devices[i].n : 0;
    }
    return judge->work_left > 0 ? n : SIZE_MAX;
}

static void warn_of_terms(struct judge *judge, const struct judged_selector *selector)
{
    struct arena *arena = judge->dry_run->arena;
    for (size_t i = 0; i < cel_n_terms(selector->program); i++) {
        const struct cel_term term = cel_term(selector->program, i);
        const size_t n = n_of_term(judge, selector, i);
        const char *longer = NULL;
        if (n == 0)
            warn(judge, selector, selector_hint_of_term(&term, &judge->view, arena));
        else if (n != SIZE_MAX &&
                 (longer = selector_hint_of_prefix(selector->program, i, &judge->view,
                                                   &judge->work_left, arena)))
            warn(judge, selector, longer);
    }
}

/* Of a class that is not in the manifest, the selectors are not known. */
static bool knows_class(const struct judge *judge, const struct device_request *request)
{
    return request->is_class || !request->class_name[0] ||
           class_of(judge, request) < judge->requests->n;
}

static const char *unless_of(const struct judge *judge, const struct device_request *request)
{
    return knows_class(judge, request)
               ? ""
               : arena_printf(judge->dry_run->arena, ", unless the class %s leaves them out",
                              request->class_name);
}

static void warn_of_selector(struct judge *judge, const struct judged_selector *selector)
{
    struct arena *arena = judge->dry_run->arena;
    const struct cel_program *program = selector->program;
    const char *expression = selector->selector->expression;
    if (cel_verdict(program) == CEL_INVALID) {
        const char *message = cel_message(program);
        warn(judge, selector,
             arena_printf(arena, "%s%s", message, selector_hint_of_compiler(expression, message)));
    } else if (cel_verdict(program) == CEL_VALID && selector->n_errors > 0) {
        warn(judge, selector,
             arena_printf(arena,
                          "%s, on %zu of %zu devices; such an error rejects the pod on all "
                          "nodes%s%s",
                          selector->error, selector->n_errors, selector->n_asked,
                          unless_of(judge, selector->request),
                          selector_hint_of_error(program, selector->error, &judge->view, arena)));
    } else if (cel_verdict(program) == CEL_VALID && judge->view.n_all > 0) {
        warn_of_terms(judge, selector);
    }
}

static const char *message_of(const struct judge *judge, const struct count *count,
                              const struct device_request *request)
{
    struct arena *arena = judge->dry_run->arena;
    if (count->not_judged)
        return arena_printf(arena, "not judged: %s", count->not_judged);
    if (count->has_error)
        return arena_printf(arena, "errs on some devices: the pod is rejected on all nodes%s",
                            unless_of(judge, request));
    const char *without = "";
    if (!knows_class(judge, request))
        without =
            arena_printf(arena, " (of the class %s only the driver counts)", request->class_name);
    return arena_printf(arena, "matches %zu of %zu devices%s", count->n_matching, judge->view.n_all,
                        without);
}

static json_t *request_json(struct judge *judge, size_t i)
{
    const struct device_request *request = &judge->requests->items[i];
    size_t i_class = class_of(judge, request);
    bool has_class = i_class < judge->requests->n;
    bool is_invalid = false;
    const char *fault = compile_fault(judge, i, &is_invalid);
    if (!fault && has_class)
        fault = compile_fault(judge, i_class, &is_invalid);
    struct count count = {0};
    if (!fault)
        count = count_devices(judge, i, i_class);
    else if (!is_invalid)
        count.not_judged = fault;
    bool is_counted = !fault && !count.not_judged && !count.has_error;
    const char *message = is_invalid ? "a selector is invalid: the API server refuses it"
                                     : message_of(judge, &count, request);
    return json_pack("{s:s, s:s, s:o, s:I, s:s}", "object", request->object, "path", request->path,
                     "matching",
                     is_counted ? json_integer((json_int_t)count.n_matching) : json_null(),
                     "devices", (json_int_t)judge->view.n_all, "message", message);
}

json_t *selectors_judge(struct dry_run *dry_run, const struct device_request_list *requests)
{
    json_t *list = json_array();
    struct judge judge = {.dry_run = dry_run, .requests = requests, .work_left = WORK_MAX};
    if (requests->n == 0)
        return list;
    compile_all(&judge);
    read_devices(&judge);
    for (size_t i = 0; i < requests->n; i++)
        (void)json_array_append_new(list, request_json(&judge, i));
    for (size_t i = 0; i < judge.first[requests->n]; i++)
        warn_of_selector(&judge, &judge.selectors[i]);
    return list;
}
