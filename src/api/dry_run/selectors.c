/* selectors: see placement_run.h. */
#include "api/dry_run/placement_run.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "base/table.h"
#include "dra/claims_count.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* ---- selector hints ---- */

/* An attribute or a capacity that some device has. */
struct published_name {
    UT_hash_handle hh; /* by kind, domain and name */
    const char *domain, *name;
    bool is_capacity;
    size_t n; /* on so many devices */
};

/* The devices that selectors are judged over. */
struct selector_view {
    struct claims_seen seen;
    size_t n_all;                 /* devices */
    struct published_name *names; /* by name; NULL: not looked up yet */
    bool is_hidden;               /* hints name nothing of the devices that the selector does not */
};

#define VALUES_SHOWN 4
#define VALUES_LOOKED_AT 64
#define HINT_MAX 600

static struct selector_view selector_view_of(struct claims_seen seen, bool is_hidden)
{
    struct selector_view view = {.seen = seen, .is_hidden = is_hidden};
    for (size_t i = 0; i < seen.n; i++)
        view.n_all += seen.kinds[i].n;
    return view;
}

static void selector_view_fini(struct selector_view *view)
{
    HASH_CLEAR(hh, view->names);
}

/* ---- what does not compile ---- */

/* A number with a unit, such as 80Gi, outside of quotes. */
static bool has_bare_quantity(const char *expression)
{
    char quote = '\0';
    for (const char *at = expression; *at; at++) {
        if (quote ? *at == quote : *at == '"' || *at == '\'')
            quote = quote ? '\0' : *at;
        else if (!quote && isdigit((unsigned char)at[0]) && strchr("KMGT", at[1]) && at[1] &&
                 (at[2] == 'i' || at[2] == 'B'))
            return true;
    }
    return false;
}

/* After the message of the compiler; "" without a guess. */
static const char *selector_hint_of_compiler(const char *expression, const char *message)
{
    bool compares = strstr(message, "'_>=_'") || strstr(message, "'_<=_'") ||
                    strstr(message, "'_>_'") || strstr(message, "'_<_'");
    if (compares && strstr(message, "kubernetes.Quantity"))
        return "; quantities have no < and >=: write .compareTo(quantity(\"40Gi\")) >= 0";
    if (compares && strstr(message, "kubernetes.Semver"))
        return "; versions have no < and >=: write .compareTo(semver(\"9.0.0\")) >= 0";
    if (strstr(message, "has() macro"))
        return "; has() wants a field: has(device.attributes[\"domain\"].name); for a domain write "
               "\"domain\" in device.attributes";
    if (strstr(message, "Syntax error") && strstr(expression, " not in "))
        return "; CEL has no \"not in\": write !(x in [...])";
    if (strstr(message, "Syntax error") && has_bare_quantity(expression))
        return "; a quantity is a text: .compareTo(quantity(\"40Gi\")) >= 0";
    return "";
}

/* ---- values ---- */

static const struct cel_fact *find_fact(const struct device_copy_kind *kind,
                                        const struct cel_read *read)
{
    for (size_t i = 0; i < kind->facts->n_facts; i++) {
        const struct cel_fact *fact = &kind->facts->facts[i];
        if ((fact->kind == CEL_QUANTITY) == read->is_capacity &&
            strcmp(fact->domain, read->domain) == 0 && strcmp(fact->name, read->name) == 0)
            return fact;
    }
    return NULL;
}

struct shown_value {
    const char *text;
    bool is_text;
    size_t n;
};

static size_t add_value(struct shown_value *values, size_t n, const struct cel_fact *fact,
                        size_t n_devices)
{
    size_t i = 0;
    while (i < n && strcmp(values[i].text, fact->text) != 0)
        i++;
    if (i == n && n < VALUES_LOOKED_AT)
        values[n++] = (struct shown_value){fact->text, fact->kind == CEL_STRING, 0};
    if (i < n)
        values[i].n += n_devices;
    return n;
}

/* "NVIDIA H100 80GB HBM3" (32), "NVIDIA A10" (8), ...: the most frequent first. "": none. */
static const char *values_text(const struct cel_read *read, const struct selector_view *view,
                               struct arena *arena)
{
    struct shown_value values[VALUES_LOOKED_AT];
    size_t n = 0;
    struct buf text;
    buf_init(&text, HINT_MAX);
    for (size_t i = 0; i < view->seen.n; i++) {
        const struct cel_fact *fact = find_fact(&view->seen.kinds[i], read);
        if (fact)
            n = add_value(values, n, fact, view->seen.kinds[i].n);
    }
    for (size_t shown = 0; shown < n && shown < VALUES_SHOWN; shown++) {
        size_t most = shown;
        for (size_t i = shown + 1; i < n; i++)
            most = values[i].n > values[most].n ? i : most;
        struct shown_value value = values[most];
        values[most] = values[shown];
        const char *quote = value.is_text ? "\"" : "";
        buf_printf(&text, "%s%s%s%s (%zu)", shown > 0 ? ", " : "", quote, value.text, quote,
                   value.n);
    }
    if (n > VALUES_SHOWN)
        buf_add_text(&text, ", ...");
    const char *copy = arena_strdup(arena, buf_text(&text));
    buf_fini(&text);
    return copy;
}

/* Why a term is true of no device: the values that there are. */
static const char *selector_hint_of_term(const struct cel_term *term,
                                         const struct selector_view *view, struct arena *arena)
{
    const char *values = values_text(&term->read, view, arena);
    const char *kind = term->read.is_capacity ? "capacity" : "attribute";
    if (!values[0])
        return arena_printf(arena, "no device has the %s %s/%s", kind, term->read.domain,
                            term->read.name);
    const char *what = term->kind == CEL_TERM_EQUAL  ? "equal to"
                       : term->kind == CEL_TERM_TEXT ? "that fits"
                                                     : "that compares so with";
    const char *why =
        term->kind == CEL_TERM_QUANTITY ? "; a card reports a little less than its name says" : "";
    return arena_printf(arena, "no device has a %s/%s %s \"%s\"%s%s%s", term->read.domain,
                        term->read.name, what, term->literal,
                        view->is_hidden ? "" : "; devices have ", view->is_hidden ? "" : values,
                        why);
}

/* ---- errors on devices ---- */

static void count_name(struct selector_view *view, const struct cel_fact *fact, size_t n,
                       struct arena *arena)
{
    const bool is_capacity = fact->kind == CEL_QUANTITY;
    const char *key = arena_printf(arena, "%d %s/%s", is_capacity, fact->domain, fact->name);
    struct published_name *seen = NULL;
    HASH_FIND_STR(view->names, key, seen);
    if (!seen) {
        seen = ARENA_NEW(arena, struct published_name);
        *seen = (struct published_name){
            .domain = fact->domain, .name = fact->name, .is_capacity = is_capacity};
        HASH_ADD_KEYPTR(hh, view->names, key, strlen(key), seen);
    }
    seen->n += n;
}

static int compare_names(const void *a, const void *b)
{
    const struct published_name *left = a;
    const struct published_name *right = b;
    return strcmp(left->name, right->name);
}

static void find_names(struct selector_view *view, struct arena *arena)
{
    if (view->names)
        return;
    for (size_t i = 0; i < view->seen.n; i++) {
        const struct device_copy_kind *kind = &view->seen.kinds[i];
        for (size_t j = 0; j < kind->facts->n_facts; j++)
            count_name(view, &kind->facts->facts[j], kind->n, arena);
        for (size_t j = 0; j < kind->n_unread; j++)
            count_name(view, &kind->unread[j], kind->n, arena);
    }
    HASH_SORT(view->names, compare_names);
}

static const struct published_name *find_name(const struct selector_view *view, const char *domain,
                                              const char *name, bool is_capacity)
{
    for (const struct published_name *seen = view->names; seen; seen = seen->hh.next) {
        if (seen->is_capacity == is_capacity && strcmp(seen->name, name) == 0 &&
            (!domain || strcmp(seen->domain, domain) == 0))
            return seen;
    }
    return NULL;
}

static const char *path_text(const char *domain, const char *name, bool is_capacity,
                             struct arena *arena)
{
    return arena_printf(arena, "device.%s[\"%s\"].%s", is_capacity ? "capacity" : "attributes",
                        domain, name);
}

/* A name of the domain that the missing one may have been meant for. */
static const struct published_name *near_name(const struct selector_view *view,
                                              const struct cel_read *read)
{
    for (const struct published_name *seen = view->names; seen; seen = seen->hh.next)
        if (seen->is_capacity == read->is_capacity && strcmp(seen->domain, read->domain) == 0 &&
            nearest_is_typo(read->name, seen->name))
            return seen;
    return NULL;
}

/* "; devices have architecture, brand, ...": the names in the domain. */
static const char *names_text(const struct selector_view *view, const struct cel_read *read,
                              struct arena *arena)
{
    struct buf text;
    size_t n = 0;
    buf_init(&text, HINT_MAX);
    for (const struct published_name *seen = view->names; seen && n < 12; seen = seen->hh.next)
        if (seen->is_capacity == read->is_capacity && strcmp(seen->domain, read->domain) == 0)
            buf_printf(&text, "%s%s", n++ > 0 ? ", " : "", seen->name);
    const char *hint =
        n == 0 ? arena_printf(arena, "; no device has the domain %s", read->domain)
               : arena_printf(arena, "; under %s devices have %s", read->domain, buf_text(&text));
    buf_fini(&text);
    return hint;
}

static const char *hint_of_missing(const struct cel_read *read, const struct selector_view *view,
                                   struct arena *arena)
{
    const char *kind = read->is_capacity ? "capacity" : "attribute";
    const struct published_name *seen =
        find_name(view, read->domain, read->name, read->is_capacity);
    if (seen)
        return arena_printf(arena,
                            "; %zu of %zu devices have it: ask first, \"%s\" in device.%s[\"%s\"] "
                            "&& ...",
                            seen->n, view->n_all, read->name,
                            read->is_capacity ? "capacity" : "attributes", read->domain);
    if (view->is_hidden)
        return arena_printf(arena, "; no device has this %s", kind);
    seen = find_name(view, read->domain, read->name, !read->is_capacity);
    if (seen)
        return arena_printf(arena, "; no device has this %s, but there is %s", kind,
                            path_text(seen->domain, seen->name, seen->is_capacity, arena));
    seen = find_name(view, NULL, read->name, read->is_capacity);
    if (!seen)
        seen = near_name(view, read);
    if (seen)
        return arena_printf(arena, "; no device has this %s; did you mean %s?", kind,
                            path_text(seen->domain, seen->name, seen->is_capacity, arena));
    return arena_printf(arena, "; no device has this %s%s", kind, names_text(view, read, arena));
}

/* After an error on devices. */
static const char *selector_hint_of_error(const struct cel_program *program, const char *message,
                                          struct selector_view *view, struct arena *arena)
{
    static const char MISSING[] = "no such key: ";
    size_t n = 0;
    const struct cel_read *reads = cel_reads(program, &n);
    if (strncmp(message, MISSING, sizeof MISSING - 1) == 0)
        for (size_t i = 0; i < n; i++)
            if (reads[i].name && strcmp(reads[i].name, message + sizeof MISSING - 1) == 0) {
                find_names(view, arena);
                return hint_of_missing(&reads[i], view, arena);
            }
    if (strncmp(message, "quantities must match", 21) == 0)
        return "; write \"80G\" or \"80Gi\", without B";
    for (size_t i = 0; i < n && strstr(message, "no such overload"); i++)
        for (size_t j = 0; j < view->seen.n && reads[i].name; j++) {
            const struct cel_fact *fact = find_fact(&view->seen.kinds[j], &reads[i]);
            if (fact && fact->kind == CEL_VERSION)
                return arena_printf(arena,
                                    "; %s is a version: write .compareTo(semver(\"9.0.0\")) "
                                    ">= 0",
                                    reads[i].name);
        }
    return "";
}

/* ---- patterns that take more than is meant ---- */

/* The last word of letters and digits, if it ends in a digit and nothing but .*$ follows. */
static const char *last_word(const char *pattern, struct arena *arena)
{
    size_t end = strlen(pattern);
    while (end > 0 && strchr(".*+$", pattern[end - 1]))
        end--;
    size_t from = end;
    while (from > 0 && isalnum((unsigned char)pattern[from - 1]))
        from--;
    bool is_escape = from > 0 && pattern[from - 1] == '\\';
    bool is_model = end > from && isdigit((unsigned char)pattern[end - 1]) &&
                    isalpha((unsigned char)pattern[from]);
    return is_model && !is_escape ? arena_strndup(arena, pattern + from, end - from) : NULL;
}

static bool goes_on(const char *value, const char *word)
{
    const char *at = strcasestr(value, word);
    return at && isdigit((unsigned char)at[strlen(word)]);
}

/* Whether the term takes the device; charged to the work left. */
static bool takes(const struct cel_program *program, size_t i_term, const struct cel_device *device,
                  uint64_t *work_left)
{
    struct arena *scratch CLEANUP(arena_free_ptr) = arena_new();
    const struct cel_answer answer = cel_evaluate_term(program, i_term, device, scratch);
    *work_left -= answer.cost < *work_left ? answer.cost : *work_left;
    return answer.value;
}

/* A pattern that ends in a number and takes a longer number, too ("a10" for "A100"); NULL: none.
 * Charges what it evaluates to work_left, and ends when that is 0. */
static const char *selector_hint_of_prefix(const struct cel_program *program, size_t i_term,
                                           const struct selector_view *view, uint64_t *work_left,
                                           struct arena *arena)
{
    const struct cel_term term = cel_term(program, i_term);
    const char *word = term.kind == CEL_TERM_TEXT ? last_word(term.literal, arena) : NULL;
    for (size_t i = 0; word && i<view->seen.n && * work_left> 0; i++) {
        const struct device_copy_kind *kind = &view->seen.kinds[i];
        const struct cel_fact *fact = find_fact(kind, &term.read);
        if (fact && fact->kind == CEL_STRING && goes_on(fact->text, word) &&
            takes(program, i_term, kind->facts, work_left))
            return arena_printf(arena,
                                "takes %s%s%s, too: \"%s\" is the beginning of a longer number; "
                                "in matches(), write \\\\b after it",
                                view->is_hidden ? "" : "\"",
                                view->is_hidden ? "other devices" : fact->text,
                                view->is_hidden ? "" : "\"", word);
    }
    return NULL;
}

/* ---- selectors ---- */

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
        return arena_printf(arena, "matches %zu of %zu devices without its class %s",
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
