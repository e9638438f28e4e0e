/* selectors: see selectors.h. */
#include "api/dry_run/selectors.h"
#include "api/dry_run/device_classes.h"
#include "api/dry_run/device_view.h"
#include "api/dry_run/selector_hints.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "cel/selectors.h"

#include <string.h>

/* Steps of all selectors over all devices. About a second of one core. */
#define WORK_MAX ((uint64_t)20000000)
#define READS_MAX ((size_t)512)
#define COST_OF_COMPARISON 20 /* of dry_run.names_left */

/* The result of a selector, as numbers of devices. */
struct selector_tally {
    size_t n_asked, n_errors;
    const char *error; /* of the first device that errs */
};

struct judged_request {
    const struct device_request *request;
    struct cel_selectors compiled;
    struct selector_tally *tallies; /* of each selector */
};

struct judge {
    struct dry_run *dry_run;
    const struct given_devices *given;
    struct device_request_list list; /* of the manifest, then classes of the cluster */
    struct judged_request *requests; /* of the list */
    struct device_view view;
    uint64_t work_left;
};

/* Devices of one request. */
struct count {
    size_t n_matching;
    const char *not_judged; /* why, or NULL */
    bool has_error;
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
    warn_at(judge, judged->request, judged->request->selectors[i].path, message);
}

static struct judged_request compile(const struct device_request *request, struct arena *arena)
{
    const char **texts = ARENA_ARRAY(arena, const char *, request->n_selectors);
    for (size_t i = 0; i < request->n_selectors; i++)
        texts[i] = request->selectors[i].expression;
    return (struct judged_request){
        .request = request,
        .compiled =
            cel_selectors_compile(texts, request->n_selectors, request->lacks_selectors, arena),
        .tallies = ARENA_ARRAY(arena, struct selector_tally, request->n_selectors)};
}

static void compile_all(struct judge *judge)
{
    struct arena *arena = judge->dry_run->arena;
    judge->requests = ARENA_ARRAY(arena, struct judged_request, judge->list.n);
    for (size_t i = 0; i < judge->list.n; i++)
        judge->requests[i] = compile(&judge->list.items[i], arena);
}

/* Appends the facts that the selectors read, as far as there is room. Returns how many reads there
 * are. */
static size_t add_reads(const struct cel_selectors *selectors, struct cel_read *reads, size_t n)
{
    for (size_t i = 0; i < selectors->n; i++) {
        size_t n_own = 0;
        const struct cel_program *program = selectors->programs[i];
        const struct cel_read *own =
            cel_verdict(program) == CEL_VALID ? cel_reads(program, &n_own) : NULL;
        for (size_t j = 0; j < n_own && n + 2 < READS_MAX; j++)
            reads[n++] = own[j];
    }
    return n;
}

static void read_devices(struct judge *judge)
{
    struct arena *arena = judge->dry_run->arena;
    struct cel_read *reads = ARENA_ARRAY(arena, struct cel_read, READS_MAX);
    size_t n = 0;
    for (size_t i = 0; i < judge->list.n; i++)
        n = add_reads(&judge->requests[i].compiled, reads, n);
    if (n + 2 >= READS_MAX) { /* all is read */
        n = 0;
        reads[n++] = (struct cel_read){.is_capacity = false};
        reads[n++] = (struct cel_read){.is_capacity = true};
    }
    device_view_read(judge->dry_run->api->inventory, judge->given, reads, n, arena, &judge->view);
    judge->view.is_hidden = judge->dry_run->hides_devices;
}

static bool has_class(const struct judge *judge, size_t i_class)
{
    return i_class < judge->list.n;
}

/* Warns of a class that does not exist. */
static bool lacks_class(const struct judge *judge, const struct device_request *request)
{
    return !request->is_class && request->class_name[0] &&
           !has_class(judge, device_classes_find(&judge->list, request));
}

/* A file that was saved without DeviceClasses does not show which classes exist. */
static bool has_no_classes(const struct judge *judge)
{
    const char *resource = "";
    return !judge->dry_run->provenance->live &&
           !cluster_next_device_class(judge->dry_run->fork, NULL, &resource);
}

static void tally_of(struct judge *judge, struct judged_request *judged, size_t i_last,
                     const struct cel_answer *answer, size_t n_devices)
{
    for (size_t i = 0; i <= i_last && i < judged->compiled.n; i++)
        judged->tallies[i].n_asked += n_devices;
    if (answer->verdict != CEL_INVALID)
        return;
    struct selector_tally *tally = &judged->tallies[i_last];
    if (tally->n_errors == 0)
        tally->error = arena_strdup(judge->dry_run->arena, answer->message);
    tally->n_errors += n_devices;
}

/* True if the device passes; an error or an unknown answer ends the request's count of it. */
static bool passes(struct judge *judge, struct judged_request *judged,
                   const struct seen_device *seen, struct count *count)
{
    struct arena *scratch CLEANUP(arena_free_ptr) = arena_new();
    size_t i_last = 0;
    if (judged->compiled.n == 0)
        return true;
    if (judge->work_left == 0 || seen->lacks_attributes) {
        count->not_judged = seen->lacks_attributes ? "a device has too many attributes"
                                                   : "too much work for one answer";
        return false;
    }
    struct cel_answer answer =
        cel_selectors_evaluate(&judged->compiled, &seen->device, scratch, &i_last);
    judge->work_left -= answer.cost < judge->work_left ? answer.cost : judge->work_left;
    tally_of(judge, judged, i_last, &answer, seen->n);
    count->has_error |= answer.verdict == CEL_INVALID;
    if (answer.verdict == CEL_NOT_JUDGED)
        count->not_judged = arena_strdup(judge->dry_run->arena, answer.message);
    return answer.verdict == CEL_VALID && answer.value;
}

static struct count count_devices(struct judge *judge, size_t i_request, size_t i_class)
{
    struct count count = {0};
    for (size_t i = 0; i < judge->view.n; i++) {
        const struct seen_device *seen = &judge->view.devices[i];
        if (has_class(judge, i_class) && !passes(judge, &judge->requests[i_class], seen, &count))
            continue;
        if (passes(judge, &judge->requests[i_request], seen, &count))
            count.n_matching += seen->n;
    }
    return count;
}

/* Devices for which a term alone is true; SIZE_MAX: not known. */
static size_t n_of_term(struct judge *judge, const struct cel_program *program, size_t i_term)
{
    size_t n = 0;
    for (size_t i = 0; i < judge->view.n && judge->work_left > 0; i++) {
        struct arena *scratch CLEANUP(arena_free_ptr) = arena_new();
        struct cel_answer answer =
            cel_evaluate_term(program, i_term, &judge->view.devices[i].device, scratch);
        judge->work_left -= answer.cost < judge->work_left ? answer.cost : judge->work_left;
        if (answer.verdict == CEL_NOT_JUDGED)
            return SIZE_MAX;
        n += answer.value ? judge->view.devices[i].n : 0;
    }
    return judge->work_left > 0 ? n : SIZE_MAX;
}

static void warn_of_terms(struct judge *judge, const struct judged_request *judged, size_t i)
{
    struct arena *arena = judge->dry_run->arena;
    const struct cel_program *program = judged->compiled.programs[i];
    for (size_t i_term = 0; i_term < cel_n_terms(program); i_term++) {
        const struct cel_term term = cel_term(program, i_term);
        const size_t n = n_of_term(judge, program, i_term);
        const char *longer = NULL;
        if (n == 0)
            warn(judge, judged, i, selector_hint_of_term(&term, &judge->view, arena));
        else if (n != SIZE_MAX && (longer = selector_hint_of_prefix(program, i_term, &judge->view,
                                                                    &judge->work_left, arena)))
            warn(judge, judged, i, longer);
    }
}

/* The note that the class's selectors are unknown and might exclude the devices with the error; "":
 * they are known. */
static const char *unless_of(const struct judge *judge, const struct device_request *request)
{
    if (!lacks_class(judge, request))
        return "";
    return arena_printf(judge->dry_run->arena, ", unless the class %s leaves them out",
                        request->class_name);
}

static void warn_of_errors(struct judge *judge, const struct judged_request *judged, size_t i)
{
    struct arena *arena = judge->dry_run->arena;
    const struct selector_tally *tally = &judged->tallies[i];
    warn(judge, judged, i,
         arena_printf(
             arena, "%s, on %zu of %zu devices; such an error rejects the pod on all nodes%s%s",
             tally->error, tally->n_errors, tally->n_asked, unless_of(judge, judged->request),
             selector_hint_of_error(judged->compiled.programs[i], tally->error, &judge->view,
                                    arena)));
}

/* Reports of a class of the cluster only the errors that reject pods. */
static void warn_of_selector(struct judge *judge, const struct judged_request *judged, size_t i,
                             bool is_of_manifest)
{
    const struct cel_program *program = judged->compiled.programs[i];
    const char *message = cel_message(program);
    if (cel_verdict(program) == CEL_INVALID)
        warn(judge, judged, i,
             arena_printf(
                 judge->dry_run->arena, "%s%s", message,
                 selector_hint_of_compiler(judged->request->selectors[i].expression, message)));
    else if (cel_verdict(program) == CEL_VALID && judged->tallies[i].n_errors > 0)
        warn_of_errors(judge, judged, i);
    else if (cel_verdict(program) == CEL_VALID && judge->view.n_all > 0 && is_of_manifest)
        warn_of_terms(judge, judged, i);
}

/* Classes come from the fork, which has the names of all. */
static void warn_of_missing_class(const struct judge *judge, const struct device_request *request)
{
    struct dry_run *dry_run = judge->dry_run;
    struct arena *arena = dry_run->arena;
    struct nearest nearest = {.asked = request->class_name, .least = SIZE_MAX};
    const char *resource = "";
    const char *name = NULL;
    while (dry_run->names_left >= COST_OF_COMPARISON &&
           (name = cluster_next_device_class(dry_run->fork, name, &resource))) {
        (void)nearest_try(&nearest, name);
        dry_run->names_left -= COST_OF_COMPARISON;
    }
    const char *meant =
        nearest.found ? arena_printf(arena, "; did you mean %s?", nearest.found) : "";
    warn_at(judge, request, arena_printf(arena, "%s.deviceClassName", request->path),
            arena_printf(arena, "there is no DeviceClass %s: the pod waits until there is%s",
                         request->class_name, meant));
}

static void warn_of_request(struct judge *judge, size_t i_request, bool is_of_manifest)
{
    const struct judged_request *judged = &judge->requests[i_request];
    const struct device_request *request = judged->request;
    if (lacks_class(judge, request) && !judge->list.lacks_classes && !has_no_classes(judge))
        warn_of_missing_class(judge, request);
    for (size_t i = 0; i < judged->compiled.n; i++)
        warn_of_selector(judge, judged, i, is_of_manifest);
}

static const char *message_of(const struct judge *judge, const struct count *count,
                              const struct device_request *request)
{
    struct arena *arena = judge->dry_run->arena;
    if (count->not_judged)
        return arena_printf(arena, "not judged: %s", count->not_judged);
    if (count->has_error)
        return arena_printf(arena, "fails on some devices: the pod is rejected on all nodes%s",
                            unless_of(judge, request));
    if (lacks_class(judge, request) && has_no_classes(judge))
        return arena_printf(arena,
                            "matches %zu of %zu devices without its class %s: the saved cluster "
                            "has no DeviceClasses",
                            count->n_matching, judge->view.n_all, request->class_name);
    if (lacks_class(judge, request))
        return arena_printf(arena,
                            "there is no DeviceClass %s; without it, the request matches %zu of "
                            "%zu devices",
                            request->class_name, count->n_matching, judge->view.n_all);
    return arena_printf(arena, "matches %zu of %zu devices", count->n_matching, judge->view.n_all);
}

/* Why the request cannot be counted at all; NULL: it can. */
static const char *fault_of(const struct judge *judge, size_t i_request, size_t i_class)
{
    const size_t places[] = {i_request, i_class};
    if (lacks_class(judge, judge->requests[i_request].request) && judge->list.lacks_classes)
        return "not judged: the manifest has too many requests to look for the class";
    for (size_t i = 0; i < 2; i++) {
        if (!has_class(judge, places[i]))
            continue;
        struct arena *arena = judge->dry_run->arena;
        const struct judged_request *judged = &judge->requests[places[i]];
        const char *message = "";
        const char *whose =
            i == 0 ? "" : arena_printf(arena, " of the class %s", judged->request->class_name);
        enum cel_verdict verdict = cel_selectors_verdict(&judged->compiled, &message);
        if (verdict == CEL_INVALID)
            return arena_printf(arena, "a selector%s is invalid: the API server rejects it", whose);
        if (verdict == CEL_NOT_JUDGED)
            return arena_printf(arena, "not judged: %s%s", message, whose);
    }
    return NULL;
}

static json_t *request_json(struct judge *judge, size_t i)
{
    const struct device_request *request = &judge->list.items[i];
    const size_t i_class = device_classes_find(&judge->list, request);
    const char *message = fault_of(judge, i, i_class);
    struct count count = {.has_error = message};
    if (!message) {
        count = count_devices(judge, i, i_class);
        message = message_of(judge, &count, request);
    }
    const bool is_counted = !count.not_judged && !count.has_error && !lacks_class(judge, request);
    return json_pack("{s:s, s:s, s:o, s:I, s:s}", "object", request->object, "path", request->path,
                     "matching",
                     is_counted ? json_integer((json_int_t)count.n_matching) : json_null(),
                     "devices", (json_int_t)judge->view.n_all, "message", message);
}

static void warn_of_cut(const struct judge *judge)
{
    const char *message = arena_printf(
        judge->dry_run->arena,
        "has the first %zu requests with the first %zu selectors; the others are not judged",
        DEVICE_REQUESTS_MAX, DEVICE_SELECTORS_MAX);
    dry_run_warn(judge->dry_run, "deviceRequests", message);
}

json_t *selectors_judge(struct dry_run *dry_run, const struct device_request_list *requests,
                        const struct given_devices *given)
{
    json_t *list = json_array();
    struct judge judge = {.dry_run = dry_run, .given = given, .work_left = WORK_MAX};
    if (requests->n == 0)
        return list;
    judge.list = device_classes_join(dry_run->api->inventory, requests, dry_run->arena);
    compile_all(&judge);
    read_devices(&judge);
    for (size_t i = 0; i < requests->n; i++)
        (void)json_array_append_new(list, request_json(&judge, i));
    if (requests->is_cut)
        warn_of_cut(&judge);
    for (size_t i = 0; i < judge.list.n; i++)
        warn_of_request(&judge, i, i < requests->n);
    return list;
}
