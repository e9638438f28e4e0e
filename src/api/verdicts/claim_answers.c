/* claim_answers: see verdict.h. First one want, then one claim, then the lines. */
#include "api/table.h"
#include "api/text.h"
#include "api/verdicts/verdict.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

/* The length of a term or value in an answer. */
#define SHOWN_BYTES ((size_t)200)
/* Alternatives that did not come to pass, of all answers about a pod. */
#define JUDGED_MAX ((size_t)16)

struct answer_context {
    struct claim_lookup *lookup;
    struct claim_rules *rules;
    const struct candidates *candidates;
    struct arena *arena;
    size_t n_judged_left;
};

/* A want of the claim. */
struct asked_want {
    struct claim_alternative place;
    const struct allocate_request *request;
    const struct allocate_want *want;
};

static const char *shortened(const char *text, struct arena *arena)
{
    size_t len = strlen(text);
    if (len <= SHOWN_BYTES)
        return text;
    len = SHOWN_BYTES;
    while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
        len--;
    return arena_printf(arena, "%.*s...", (int)len, text);
}

static json_t *number(const struct claims_count *count, size_t n)
{
    return count && !count->not_judged && count->n_errors == 0 ? json_integer((json_int_t)n)
                                                               : json_null();
}

/* ---- devices ---- */

static json_t *removals_json(const struct asked_want *asked, const struct claims_count *count,
                             struct arena *arena)
{
    json_t *list = json_array();
    for (size_t i = 0; count && i < count->n_removals; i++) {
        const struct claims_removal *removal = &count->removals[i];
        const char *selector = removal->is_of_class
                                   ? arena_printf(arena, "DeviceClass %s, selector %zu",
                                                  asked->want->class_name, removal->selector)
                                   : arena_printf(arena, "selector %zu", removal->selector);
        (void)json_array_append_new(
            list,
            json_pack("{s:s, s:s, s:I, s:s?}", "selector", selector, "term",
                      shortened(removal->term, arena), "devices", (json_int_t)removal->n, "nearest",
                      removal->nearest ? shortened(removal->nearest, arena) : NULL));
    }
    return list;
}

static const char *devices_text(const struct claims_count *count, struct arena *arena)
{
    if (!count)
        return "not counted";
    if (count->not_judged)
        return arena_printf(arena, "not counted: %s", count->not_judged);
    if (count->n_errors > 0)
        return arena_printf(arena,
                            "a selector fails on %zu of %zu devices (%s); if kube-scheduler "
                            "evaluates one of them, it rejects the pod on all nodes",
                            count->n_errors, count->n_all, count->error);
    const char *text = arena_printf(arena, "%zu of %zu devices match, %zu of them are free",
                                    count->n_matching, count->n_all, count->n_free);
    if (count->n_tainted > 0)
        text = arena_printf(arena, "%s, taints keep the claim off %zu", text, count->n_tainted);
    if (count->n_free + count->n_tainted < count->n_matching)
        text = arena_printf(arena, "%s; kube-scheduler evicts no pod for devices in use", text);
    return text;
}

/* ---- alternatives ---- */

/* Nodes that fit and where the request gets this want. */
static size_t n_nodes_of(const struct answer_context *context, const struct asked_want *asked)
{
    const struct candidates *candidates = context->candidates;
    const struct claim_alternative *place = &asked->place;
    size_t n = 0;
    if (!asked->request->has_alternatives)
        return candidates->n_fitting;
    for (size_t i = 0; i < candidates->n_fitting; i++)
        n += claim_rules_alternative(context->rules, candidates->fitting[i].node, place->claim,
                                     place->request) == place->want;
    return n;
}

/* Why the best node gives another alternative. */
static const char *why_not(struct answer_context *context, const struct asked_want *asked,
                           const struct node *best)
{
    const char *cause = "";
    if (context->n_judged_left == 0)
        return "not judged: there are too many alternatives";
    context->n_judged_left--;
    const enum reason reason =
        claim_rules_judge_alternative(context->rules, best, &asked->place, &cause);
    if (reason == REASON_FITS)
        return "alternatives of other requests come first";
    return arena_printf(context->arena, "%s%s%s", reason_text(reason), cause[0] ? ": " : "", cause);
}

/* "taken on h100-1, the best node". NULL: nothing to say. */
static const char *choice_text(struct answer_context *context, const struct asked_want *asked)
{
    const struct candidates *candidates = context->candidates;
    if (!asked->request->has_alternatives || candidates->n_fitting == 0)
        return NULL;
    const struct node *best = candidates->fitting[0].node;
    const size_t chosen =
        claim_rules_alternative(context->rules, best, asked->place.claim, asked->place.request);
    if (chosen == SIZE_MAX)
        return NULL;
    const char *best_text = arena_printf(context->arena, "%s, the best node", node_name(best));
    if (chosen == asked->place.want)
        return arena_printf(context->arena, "taken on %s", best_text);
    if (chosen < asked->place.want)
        return arena_printf(context->arena, "not needed on %s", best_text);
    return arena_printf(context->arena, "not on %s: %s", best_text, why_not(context, asked, best));
}

/* ---- a want ---- */

static json_t *want_json(struct answer_context *context, const struct asked_want *asked)
{
    struct arena *arena = context->arena;
    const struct pod_claim *claim = claim_rules_claim(context->rules, asked->place.claim);
    const struct claims_count *count =
        claim_lookup_count(context->lookup, asked->want, claim->needs_others);
    const char *choice = choice_text(context, asked);
    const char *message = devices_text(count, arena);
    const size_t n_nodes = n_nodes_of(context, asked);
    if (choice)
        message = arena_printf(arena, "%s; taken on %zu of %zu nodes that fit; %s", message,
                               n_nodes, context->candidates->n_fitting, choice);
    return json_pack(
        "{s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:s?, s:s}", "request",
        asked->request->name, "alternative",
        asked->request->has_alternatives ? json_string(asked->want->name) : json_null(),
        "deviceClass", asked->want->class_name, "count",
        asked->want->wants_all ? json_null() : json_integer(asked->want->n_devices), "devices",
        count && !count->lacks_devices ? json_integer((json_int_t)count->n_all) : json_null(),
        "matching", number(count, count ? count->n_matching : 0), "free",
        number(count, count ? count->n_free : 0), "tainted",
        number(count, count ? count->n_tainted : 0), "nodes", (json_int_t)n_nodes, "removed",
        removals_json(asked, count, arena), "choice", choice, "message", message);
}

/* ---- a claim ---- */

static const char *name_of(const struct pod_claim *claim, struct arena *arena)
{
    return arena_printf(arena, "%s %s/%s",
                        claim->is_template ? "ResourceClaimTemplate" : "ResourceClaim",
                        claim->asked.namespace_, claim->asked.name);
}

static const char *message_of(const struct pod_claim *claim, struct arena *arena)
{
    if (claim->fault != REASON_FITS)
        return arena_printf(arena, "%s%s%s", reason_text(claim->fault), claim->cause ? ": " : "",
                            claim->cause ? claim->cause : "");
    if (claim->is_allocated)
        return arena_printf(arena, "is allocated, and %zu pod%s it", claim->n_holders,
                            claim->n_holders == 1 ? " uses" : "s use");
    return claim->is_template ? "each pod gets a claim of its own"
                              : "all pods that name it share its devices";
}

/* Nodes that fit and where binding waits for the driver; *ret_first: the best of them. */
static size_t n_waiting(const struct answer_context *context, size_t i_claim,
                        const struct node **ret_first)
{
    const struct candidates *candidates = context->candidates;
    size_t n = 0;
    for (size_t i = 0; i < candidates->n_fitting; i++) {
        const struct node *node = candidates->fitting[i].node;
        if (claim_rules_waits(context->rules, node, i_claim) && n++ == 0)
            *ret_first = node;
    }
    return n;
}

static const char *waiting_text(const struct answer_context *context, size_t i_claim, size_t n,
                                const struct node *first)
{
    return arena_printf(context->arena,
                        "on %zu of %zu nodes that fit, kube-scheduler binds the pod only once the "
                        "driver has set the binding conditions of the devices (on %s: %s), and "
                        "takes them back if the driver reports a failure or stays silent",
                        n, context->candidates->n_fitting, node_name(first),
                        claim_rules_waits(context->rules, first, i_claim));
}

/* Lines of a want, with the terms that remove devices. */
#define LINES_OF_A_WANT ((size_t)1 + CLAIMS_REMOVALS_MAX)

/* False: some are left out. */
static bool add_requests(struct answer_context *context, size_t i_claim, json_t *list)
{
    const struct pod_claim *claim = claim_rules_claim(context->rules, i_claim);
    if (claim->is_allocated)
        return true;
    for (size_t i = 0; i < claim->asked.n_requests; i++) {
        const struct allocate_request *request = &claim->asked.requests[i];
        for (size_t j = 0; j < request->n_wants; j++) {
            const struct asked_want asked = {{i_claim, i, j}, request, &request->wants[j]};
            if (!claim_lookup_take_lines(context->lookup, LINES_OF_A_WANT))
                return false;
            (void)json_array_append_new(list, want_json(context, &asked));
        }
    }
    return true;
}

static json_t *claim_json(struct answer_context *context, size_t i_claim)
{
    const struct pod_claim *claim = claim_rules_claim(context->rules, i_claim);
    json_t *requests = json_array();
    const char *message = message_of(claim, context->arena);
    const struct node *first = NULL;
    const size_t n_waits = n_waiting(context, i_claim, &first);
    if (first)
        message = arena_printf(context->arena, "%s; %s", message,
                               waiting_text(context, i_claim, n_waits, first));
    if (!add_requests(context, i_claim, requests))
        message =
            arena_printf(context->arena, "%s; requests are left out: the answer is full", message);
    return json_pack("{s:s, s:s, s:I, s:o}", "claim", name_of(claim, context->arena), "message",
                     message, "bindingWaits", (json_int_t)n_waits, "requests", requests);
}

json_t *claim_answers_json(struct claim_lookup *lookup, struct claim_rules *rules,
                           const struct candidates *candidates, struct arena *arena)
{
    struct answer_context context = {lookup, rules, candidates, arena, JUDGED_MAX};
    json_t *list = json_array();
    for (size_t i = 0; i < claim_rules_n(rules) && claim_lookup_take_lines(lookup, 1); i++)
        (void)json_array_append_new(list, claim_json(&context, i));
    return list;
}

/* ---- in a few words ---- */

#define SEVERAL "several classes"

/* The class that the request names; before: that of those before it. "": none. */
static const char *class_of_request(const struct allocate_request *request, const char *before)
{
    for (size_t i = 0; i < request->n_wants; i++) {
        const char *class = request->wants[i].class_name;
        before = !before[0] || strcmp(before, class) == 0 ? class : SEVERAL;
    }
    return before;
}

static const char *class_of(const struct pod_claim *claim, const char *before)
{
    for (size_t i = 0; i < claim->asked.n_requests; i++)
        before = class_of_request(&claim->asked.requests[i], before);
    return before;
}

const char *claim_answers_refusal(const struct claim_rules *rules, enum reason reason,
                                  struct arena *arena)
{
    const size_t n = claim_rules_n(rules);
    const char *class = "";
    if (n == 0)
        return "its resource claims find too few devices";
    const char *first = claim_rules_claim(rules, 0)->asked.name;
    const char *who =
        arena_printf(arena, "its claim%s %s", n == 1 ? "" : "s", text_first(first, n, arena));
    if (reason == REASON_CLAIM_ELSEWHERE)
        return arena_printf(arena, "the devices of %s are out of reach", who);
    for (size_t i = 0; i < n; i++)
        class = class_of(claim_rules_claim(rules, i), class);
    return arena_printf(arena, "%s find%s too few %s%sdevices", who, n == 1 ? "s" : "",
                        strcmp(class, SEVERAL) == 0 ? "" : class,
                        class[0] && strcmp(class, SEVERAL) != 0 ? " " : "");
}

/* "DeviceClass gpus", "ResourceClaim ml/a; did you mean b?": what is missing, without a verb. */
static bool is_only_name(const char *fault)
{
    const size_t kind = strcspn(fault, " ");
    const char *name = fault[kind] ? fault + kind + 1 : "";
    const size_t len = strcspn(name, " ");
    return len > 0 && (name[len] == '\0' || name[len - 1] == ';' || name[len - 1] == ',');
}

static bool ends_a_sentence(const char *text)
{
    return text[strlen(text) - 1] == '?';
}

enum reason claim_answers_fault_reason(const struct claim_rules *rules)
{
    enum reason first = REASON_FITS;
    for (size_t i = 0; i < claim_rules_n(rules); i++) {
        const enum reason fault = claim_rules_claim(rules, i)->fault;
        if (fault != REASON_FITS && (first == REASON_FITS || fault < first))
            first = fault;
    }
    return first;
}

/* It names a class that the saved cluster may have had. */
static const char *unsaved_class(const struct claim_rules *rules, struct arena *arena)
{
    size_t i = 0;
    while (claim_rules_claim(rules, i)->fault != REASON_CLAIM_NOT_JUDGED)
        i++;
    const struct pod_claim *claim = claim_rules_claim(rules, i);
    return arena_printf(arena, "The saved cluster has no DeviceClasses; %s names %s.",
                        claim->asked.name, class_of(claim, ""));
}

const char *claim_answers_fault(const struct claim_rules *rules, bool is_missing,
                                struct arena *arena)
{
    const char *fault = claim_rules_fault(rules);
    if (!fault[0])
        return is_missing ? "A resource claim, template or class that it names does not exist."
                          : "Its resource claims are not judged.";
    if (strcmp(fault, CLAIM_LOOKUP_NO_CLASSES) == 0)
        return unsaved_class(rules, arena);
    if (is_missing && is_only_name(fault))
        return arena_printf(arena, "There is no %s%s", fault, ends_a_sentence(fault) ? "" : ".");
    return arena_printf(arena, "%c%s.", toupper((unsigned char)fault[0]), fault + 1);
}

/* ---- lines ---- */

static const char *request_name(const json_t *request, struct arena *arena)
{
    const char *alternative = text_member(request, "alternative");
    return arena_printf(arena, "%s%s%s", text_member(request, "request"), alternative[0] ? "/" : "",
                        alternative);
}

static void write_request(const json_t *request, size_t indent, struct arena *arena,
                          struct buf *out)
{
    size_t i = 0;
    json_t *removal = NULL;
    table_write_line(arena_printf(arena, "request %s: %s", request_name(request, arena),
                                  text_member(request, "message")),
                     indent + 2, TABLE_MORE, out);
    json_array_foreach (json_object_get(request, "removed"), i, removal) {
        const char *nearest = text_member(removal, "nearest");
        table_write_line(
            arena_printf(arena, "%s ruled out by %s: %s%s%s%s",
                         text_number(removal, "devices", arena), text_member(removal, "selector"),
                         text_member(removal, "term"), nearest[0] ? " (the nearest value is " : "",
                         nearest, nearest[0] ? ")" : ""),
            indent + 4, TABLE_MORE, out);
    }
}

void claim_answers_write(const json_t *answers, size_t indent, struct arena *arena, struct buf *out)
{
    size_t i = 0;
    size_t j = 0;
    json_t *claim = NULL;
    json_t *request = NULL;
    json_array_foreach (answers, i, claim) {
        const char *name = arena_printf(arena, ": %s", text_member(claim, "claim"));
        const char *message = text_member(claim, "message");
        const char *again = strstr(message, name); /* the message of a pod names it last */
        const size_t len =
            again && strlen(again) == strlen(name) ? (size_t)(again - message) : strlen(message);
        table_write_line(
            arena_printf(arena, "%s: %.*s", text_member(claim, "claim"), (int)len, message), indent,
            TABLE_MORE, out);
        json_array_foreach (json_object_get(claim, "requests"), j, request)
            write_request(request, indent, arena, out);
    }
}
