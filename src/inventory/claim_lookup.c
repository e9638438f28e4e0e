/* claim_lookup: see include/inventory/claim_lookup.h. First the claims, then their classes, then
 * the devices. */
#include "inventory/claim_lookup.h"
#include "base/nearest.h"
#include "base/table.h"
#include "claim_nodes.h"
#include "dra/devices.h"
#include "objects/claim_spec.h"
#include "objects/device_details.h"

#include <string.h>

/* Limits of an answer. */
#define NAMED_CLAIMS_MAX ((size_t)2000)
#define TEXT_BYTES_MAX ((size_t)1 << 20)
#define RANKED_TEXT_BYTES_MAX ((size_t)64 << 10)
/* Steps of counting devices in an answer; one step visits DEVICES_OF_A_STEP devices. */
#define COUNT_STEPS_MAX UINT64_C(3000000)
#define DEVICES_OF_A_STEP 4
/* Requests, terms and claims in an answer; a line takes up to about 1 KB. */
#define LINES_MAX ((size_t)9000)
/* Claims in one hold of the ledger's lock. */
#define STEP_CLAIMS 50
/* For "did you mean": names that are looked at, of which a comparison counts COST_OF_COMPARISON.
 * About two milliseconds. */
#define NAMES_MAX ((size_t)20000)
#define COST_OF_COMPARISON ((size_t)20)

struct named_claim {
    UT_hash_handle hh; /* by namespace and line */
    const char *namespace_, *name;
    struct pod_claim claim;
    const char *spec, *nodes; /* as in claim_facts */
    const char *owner_uid;    /* of a claim in the cluster; NULL: another one */
    bool lacks_admin_label;   /* it is yet to be made, in a namespace without that label */
};

/* The label of a namespace whose new claims may have adminAccess. Source:
 * resourceapi.DRAAdminNamespaceLabelKey. */
#define ADMIN_LABEL "resource.kubernetes.io/admin-access"

struct named_class {
    UT_hash_handle hh; /* by its name */
    struct asked_class asked;
    const char *driver; /* "": unknown */
    bool is_listed;     /* among the requests */
};

/* The devices for a want, when n_taken were taken. */
struct want_counts {
    UT_hash_handle hh; /* by the pointer */
    const struct allocate_want *want;
    struct claims_count count;
    size_t n_taken; /* SIZE_MAX: none are known */
};

struct shared_rules {
    UT_hash_handle hh; /* by the namespace and the claims */
    struct claim_rules *rules;
};

struct claim_lookup {
    struct claim_sources sources;
    struct arena *arena;
    struct named_claim *claims;
    struct named_class *classes;
    struct device_copy *copy;
    int minor; /* cluster_minor() at the time of the copy */
    size_t bytes_left, lines_left, names_left;
    uint64_t steps_left, count_steps_left;
    /* The devices by kind, when n_taken were taken. */
    struct device_copy_kinds kinds;
    size_t n_taken;
    bool has_kinds;
    struct want_counts *counts;
    struct shared_rules *rules;
    struct asked_request *requests; /* those of the manifest come first */
    size_t n_requests;
    size_t *stands_for;      /* of each of the sources' nodes */
    struct pod_claim beyond; /* for the claims that are not looked up */
};

struct claim_lookup *claim_lookup_new(const struct claim_sources *sources, struct arena *arena)
{
    struct claim_lookup *lookup = ARENA_NEW(arena, struct claim_lookup);
    *lookup = (struct claim_lookup){
        .sources = *sources,
        .arena = arena,
        .bytes_left = sources->nodes ? RANKED_TEXT_BYTES_MAX : TEXT_BYTES_MAX,
        .lines_left = LINES_MAX,
        .names_left = sources->nodes ? 0 : NAMES_MAX,
        .steps_left = sources->nodes ? CLAIM_LOOKUP_RANK_STEPS : CLAIM_RULES_STEPS_MAX,
        .count_steps_left = COUNT_STEPS_MAX,
        .beyond = {.fault = REASON_CLAIM_NOT_JUDGED, .cause = "there are too many claims"}};
    return lookup;
}

void claim_lookup_free(struct claim_lookup *lookup)
{
    HASH_CLEAR(hh, lookup->claims);
    HASH_CLEAR(hh, lookup->classes);
    HASH_CLEAR(hh, lookup->counts);
    HASH_CLEAR(hh, lookup->rules);
    if (lookup->copy)
        device_copy_free(lookup->copy);
}

bool claim_lookup_take_lines(struct claim_lookup *lookup, size_t n)
{
    const bool has_room = lookup->lines_left >= n;
    lookup->lines_left -= has_room ? n : 0;
    return has_room;
}

/* ---- claims ---- */

static void fail(struct named_claim *claim, enum reason reason, const char *cause)
{
    claim->claim.fault = reason;
    claim->claim.cause = cause;
}

static struct named_claim *find_claim(const struct claim_lookup *lookup, const char *key)
{
    struct named_claim *claim = NULL;
    HASH_FIND_STR(lookup->claims, key, claim);
    return claim;
}

/* The next line of *at, with the namespace. */
static const char *take_key(struct claim_lookup *lookup, const char *namespace_, const char **at)
{
    const size_t len = strcspn(*at, "\n");
    const char *key = arena_printf(lookup->arena, "%s\n%.*s", namespace_, (int)len, *at);
    *at += len + ((*at)[len] != '\0');
    return key;
}

static void add(struct claim_lookup *lookup, const char *key, const char *namespace_)
{
    struct named_claim *claim = ARENA_NEW(lookup->arena, struct named_claim);
    const char *line = key + strlen(namespace_) + 1;
    claim->namespace_ = namespace_;
    claim->name = line + (line[0] == '/');
    claim->claim.is_template = line[0] == '/';
    claim->claim.asked = (struct allocate_claim){.namespace_ = namespace_, .name = claim->name};
    if (!claim->name[0])
        fail(claim, REASON_CLAIM_NOT_JUDGED, "the name of a claim is unknown");
    HASH_ADD_KEYPTR(hh, lookup->claims, key, strlen(key), claim);
}

void claim_lookup_add(struct claim_lookup *lookup, const char *namespace_, const char *claims)
{
    for (const char *at = claims; at && *at;) {
        const char *key = take_key(lookup, namespace_, &at);
        if (HASH_COUNT(lookup->claims) < NAMED_CLAIMS_MAX && !find_claim(lookup, key))
            add(lookup, key, namespace_);
    }
}

static const struct claim_template_facts *find_given(const struct given_list *list,
                                                     const struct named_claim *claim)
{
    for (size_t i = 0; i < list->n; i++) {
        if (strcmp(list->items[i].namespace_, claim->namespace_) == 0 &&
            strcmp(list->items[i].name, claim->name) == 0)
            return &list->items[i];
    }
    return NULL;
}

static const char *copy_of(const struct claim_lookup *lookup, const char *text)
{
    return text ? arena_strdup(lookup->arena, text) : NULL;
}

/* The fault of the manifest's object; NULL: none. */
static const char *fault_of_given(const struct claim_lookup *lookup,
                                  const struct named_claim *claim)
{
    const struct given_claims *given = lookup->sources.given;
    for (size_t i = 0; given && i < given->n_faults; i++) {
        const struct given_fault *fault = &given->faults[i];
        if (fault->is_template == claim->claim.is_template &&
            strcmp(fault->namespace_, claim->namespace_) == 0 &&
            strcmp(fault->name, claim->name) == 0)
            return fault->why;
    }
    return NULL;
}

/* Takes a look at the next name; false: no look is left. */
static bool may_look(struct claim_lookup *lookup)
{
    const bool may = lookup->names_left >= COST_OF_COMPARISON;
    lookup->names_left -= may ? 1 : 0;
    return may;
}

/* Suggests only names of the claim's own namespace. */
static void try_name(struct claim_lookup *lookup, const struct named_claim *claim,
                     const char *namespace_, const char *name, struct nearest *nearest)
{
    if (strcmp(namespace_, claim->namespace_) != 0)
        return;
    lookup->names_left -= COST_OF_COMPARISON - 1;
    (void)nearest_try(nearest, name);
}

static void try_given(struct claim_lookup *lookup, const struct named_claim *claim,
                      struct nearest *nearest)
{
    const struct given_claims *given = lookup->sources.given;
    if (!given)
        return;
    const struct given_list *list = claim->claim.is_template ? &given->templates : &given->claims;
    for (size_t i = 0; i < list->n && may_look(lookup); i++)
        try_name(lookup, claim, list->items[i].namespace_, list->items[i].name, nearest);
}

static const char *meant(const struct claim_lookup *lookup, const struct nearest *nearest)
{
    return nearest->found ? arena_printf(lookup->arena, "; did you mean %s?", nearest->found) : "";
}

static const char *claim_meant(struct claim_lookup *lookup, const struct cluster *cluster,
                               const struct named_claim *claim)
{
    const struct devices *devices = cluster_devices(cluster);
    struct nearest nearest = {.asked = claim->name, .least = SIZE_MAX};
    const struct claim_template_facts *template = NULL;
    const struct device_claim *made = NULL;
    try_given(lookup, claim, &nearest);
    if (claim->claim.is_template) {
        while (may_look(lookup) && (template = cluster_next_claim_template(cluster, template)))
            try_name(lookup, claim, template->namespace_, template->name, &nearest);
    } else {
        while (may_look(lookup) && (made = devices_next_claim(devices, made)))
            try_name(lookup, claim, made->namespace_, made->name, &nearest);
    }
    return meant(lookup, &nearest);
}

static const char *class_meant(struct claim_lookup *lookup, const struct cluster *cluster,
                               const char *missing)
{
    const struct device_request_list *list = lookup->sources.requests;
    struct nearest nearest = {.asked = missing, .least = SIZE_MAX};
    const char *name = NULL;
    for (size_t i = 0; list && i < list->n && may_look(lookup); i++) {
        if (list->items[i].is_class)
            (void)nearest_try(&nearest, list->items[i].class_name);
    }
    while (may_look(lookup) && (name = cluster_next_id(cluster, CLUSTER_DEVICE_CLASSES, name))) {
        lookup->names_left -= COST_OF_COMPARISON - 1;
        (void)nearest_try(&nearest, name);
    }
    return meant(lookup, &nearest);
}

static void miss(struct claim_lookup *lookup, const struct cluster *cluster,
                 struct named_claim *claim, bool are_known)
{
    const char *why = fault_of_given(lookup, claim);
    const char *kind = claim->claim.is_template ? "ResourceClaimTemplate" : "ResourceClaim";
    const char *cause =
        arena_printf(lookup->arena, "%s %s/%s", kind, claim->namespace_, claim->name);
    if (why)
        fail(claim, REASON_CLAIM_MISSING,
             arena_printf(lookup->arena, "%s of the manifest does not count: %s", cause, why));
    else if (are_known)
        fail(claim, REASON_CLAIM_MISSING,
             arena_printf(lookup->arena, "%s%s", cause, claim_meant(lookup, cluster, claim)));
    else
        fail(claim, REASON_CLAIM_NOT_JUDGED,
             arena_printf(lookup->arena, "%s: the cluster's are unknown", cause));
}

static bool lacks_admin_label(const struct cluster *cluster, const char *name)
{
    const struct namespace *namespace_ = cluster_find_namespace(cluster, name);
    for (size_t i = 0; namespace_ && i < namespace_->n_labels; i++) {
        if (strcmp(namespace_->labels[i].key, ADMIN_LABEL) == 0)
            return strcmp(namespace_->labels[i].value, "true") != 0;
    }
    return namespace_ != NULL;
}

static void find_template(struct claim_lookup *lookup, const struct cluster *cluster,
                          struct named_claim *claim)
{
    claim->lacks_admin_label = lacks_admin_label(cluster, claim->namespace_);
    const struct given_claims *given = lookup->sources.given;
    const struct claim_template_facts *facts = given ? find_given(&given->templates, claim) : NULL;
    if (!facts)
        facts = cluster_find_claim_template(cluster, claim->namespace_, claim->name);
    if (facts)
        claim->spec = copy_of(lookup, facts->spec);
    else
        miss(lookup, cluster, claim, cluster_knows(cluster, CLUSTER_CLAIM_TEMPLATES));
}

/* Only of a claim that no more pods may use. */
static void copy_holders(const struct claim_lookup *lookup, const struct device_claim *made,
                         struct pod_claim *claim)
{
    const char **holders = ARENA_ARRAY(lookup->arena, const char *, made->n_holders);
    if (made->n_all_holders < CLAIM_RULES_HOLDERS_MAX)
        return;
    struct device_holder holder = {0};
    while (devices_next_holder(made, &holder))
        holders[claim->n_known_holders++] = arena_strdup(lookup->arena, holder.uid);
    claim->known_holders = holders;
}

static void find_made(struct claim_lookup *lookup, const struct cluster *cluster,
                      struct named_claim *claim)
{
    const struct given_claims *given = lookup->sources.given;
    const struct device_claim *made =
        devices_find_claim(cluster_devices(cluster), claim->namespace_, claim->name);
    const struct claim_template_facts *facts =
        given && !made ? find_given(&given->claims, claim) : NULL;
    if (made) {
        claim->claim.is_allocated = made->is_allocated;
        claim->claim.n_holders = made->n_all_holders;
        copy_holders(lookup, made, &claim->claim);
        claim->owner_uid = copy_of(lookup, made->owner_uid);
        claim->spec = made->is_allocated ? NULL : copy_of(lookup, made->spec);
        claim->nodes = copy_of(lookup, made->nodes);
    } else if (facts) {
        claim->spec = copy_of(lookup, facts->spec);
        claim->lacks_admin_label = lacks_admin_label(cluster, claim->namespace_);
    } else {
        miss(lookup, cluster, claim, cluster_knows(cluster, CLUSTER_CLAIMS));
    }
    if (made && made->terminating)
        fail(claim, REASON_CLAIM_MISSING,
             arena_printf(lookup->arena, "ResourceClaim %s/%s is being deleted", claim->namespace_,
                          claim->name));
    else if (made && made->is_unready)
        fail(
            claim, REASON_CLAIM_NOT_JUDGED,
            arena_printf(lookup->arena,
                         "ResourceClaim %s/%s waits for binding conditions that its driver has not "
                         "set: if this takes too long or fails, kube-scheduler takes the devices "
                         "back",
                         claim->namespace_, claim->name));
}

/* Returns the next claim of those that are not found yet. */
static struct named_claim *find_some(struct claim_lookup *lookup, struct named_claim *claim)
{
    const struct inventory_view view CLEANUP(inventory_done) =
        inventory_read(lookup->sources.inventory);
    for (size_t i = 0; claim && i < STEP_CLAIMS; i++, claim = claim->hh.next) {
        if (claim->claim.fault != REASON_FITS)
            continue;
        if (claim->claim.is_template)
            find_template(lookup, view.cluster, claim);
        else
            find_made(lookup, view.cluster, claim);
    }
    return claim;
}

static struct allocate_selectors compile(const struct device_request *request, struct arena *arena)
{
    struct cel_program **programs = ARENA_ARRAY(arena, struct cel_program *, request->n_selectors);
    for (size_t i = 0; i < request->n_selectors; i++)
        programs[i] = cel_compile(request->selectors[i].expression, arena);
    return (struct allocate_selectors){programs, request->n_selectors};
}

/* Texts beyond what an answer reads are not read. */
static bool pay(struct claim_lookup *lookup, size_t bytes)
{
    const bool is_affordable = bytes <= lookup->bytes_left;
    lookup->bytes_left -= is_affordable ? bytes : lookup->bytes_left;
    return is_affordable;
}

/* kube-scheduler asks the first selector of devices of all drivers. */
static const char *driver_of(const struct device_request *request, struct arena *arena)
{
    return request->n_selectors > 0 ? cel_driver(request->selectors[0].expression, arena) : "";
}

static void set_class(struct claim_lookup *lookup, struct named_class *class,
                      const struct device_request *request)
{
    size_t bytes = 0;
    class->asked.request = request;
    for (size_t i = 0; i < request->n_selectors; i++)
        bytes += strlen(request->selectors[i].expression);
    if (request->lacks_selectors || !pay(lookup, bytes)) {
        class->asked.not_judged = arena_printf(lookup->arena, "the class %s has too many selectors",
                                               class->asked.class.name);
        return;
    }
    class->driver = driver_of(request, lookup->arena);
    class->asked.class.selectors = compile(request, lookup->arena);
}

static bool find_given_class(struct claim_lookup *lookup, struct named_class *class)
{
    const struct device_request_list *list = lookup->sources.requests;
    for (size_t i = 0; list && i < list->n; i++) {
        const struct device_request *item = &list->items[i];
        if (!item->is_class || strcmp(item->class_name, class->asked.class.name) != 0)
            continue;
        class->is_listed = true;
        set_class(lookup, class, item);
        return true;
    }
    return false;
}

/* The class as it is, and whether a missing one is known to be missing. */
struct class_copy {
    bool exists, are_known;
    struct selector_texts texts;
    const char *meant;
};

static struct class_copy copy_class(struct claim_lookup *lookup, const char *name)
{
    const struct inventory_view view CLEANUP(inventory_done) =
        inventory_read(lookup->sources.inventory);
    const struct selector_texts *texts = cluster_device_class_selectors(view.cluster, name);
    struct class_copy copy = {
        .exists = texts != NULL,
        .are_known = view.live || cluster_n_objects(view.cluster, CLUSTER_DEVICE_CLASSES) > 0};
    if (texts)
        copy.texts = selector_texts_copy(texts, lookup->arena);
    else
        copy.meant = class_meant(lookup, view.cluster, name);
    return copy;
}

static void find_class_of_cluster(struct claim_lookup *lookup, struct named_class *class)
{
    const char *name = class->asked.class.name;
    const struct class_copy copy = copy_class(lookup, name);
    class->asked.meant = copy.meant;
    if (lookup->sources.requests && lookup->sources.requests->lacks_classes)
        class->asked.not_judged = "the manifest has too many requests to look for the class";
    else if (copy.exists)
        set_class(lookup, class, device_requests_of_class(name, &copy.texts, lookup->arena));
    else if (!copy.are_known)
        class->asked.not_judged = CLAIM_LOOKUP_NO_CLASSES;
}

static struct named_class *class_of(struct claim_lookup *lookup, const char *name)
{
    struct named_class *class = NULL;
    HASH_FIND_STR(lookup->classes, name, class);
    if (class)
        return class;
    class = ARENA_NEW(lookup->arena, struct named_class);
    class->asked.class.name = arena_strdup(lookup->arena, name);
    class->driver = "";
    HASH_ADD_KEYPTR(hh, lookup->classes, class->asked.class.name, strlen(name), class);
    if (!find_given_class(lookup, class))
        find_class_of_cluster(lookup, class);
    return class;
}

static const struct allocate_class *find_class(void *context, const char *name)
{
    const struct named_class *class = class_of(context, name);
    return class->asked.request ? &class->asked.class : NULL;
}

/* Whether the policy names the only driver whose devices match. */
static bool covers(void *context, const char *name, const char *driver)
{
    struct claim_lookup *lookup = context;
    const struct named_class *class = class_of(lookup, name);
    if (class->driver[0] || class->asked.class.selectors.n > 0)
        driver = class->driver;
    return !class->asked.request || policy_device_driver(lookup->sources.policy, driver);
}

/* ---- what they ask for ---- */

static const char *fault_of_want(struct claim_lookup *lookup, struct named_claim *claim,
                                 const struct allocate_want *want)
{
    const struct asked_class *class = &class_of(lookup, want->class_name)->asked;
    if (!want->class_name[0]) /* the allocator says so */
        return NULL;
    if (want->is_admin && claim->lacks_admin_label)
        fail(claim, REASON_CLAIM_MISSING,
             arena_printf(
                 lookup->arena,
                 "the API server rejects it, as its adminAccess needs the label " ADMIN_LABEL
                 ": \"true\" on the namespace %s",
                 claim->namespace_));
    else if (class->not_judged)
        fail(claim, REASON_CLAIM_NOT_JUDGED, class->not_judged);
    else if (!class->request)
        fail(claim, REASON_CLAIM_CLASS,
             arena_printf(lookup->arena, "DeviceClass %s%s", class->class.name, class->meant));
    return claim->claim.cause;
}

static void check_wants(struct claim_lookup *lookup, struct named_claim *claim)
{
    const struct allocate_claim *asked = &claim->claim.asked;
    for (size_t i = 0; i < asked->n_requests; i++) {
        for (size_t j = 0; j < asked->requests[i].n_wants; j++) {
            if (fault_of_want(lookup, claim, &asked->requests[i].wants[j]))
                return;
        }
    }
}

/* An incomplete pool of any driver fails it. */
static bool wants_all(const struct allocate_claim *asked)
{
    for (size_t i = 0; i < asked->n_requests; i++) {
        for (size_t j = 0; j < asked->requests[i].n_wants; j++) {
            if (asked->requests[i].wants[j].wants_all)
                return true;
        }
    }
    return false;
}

static void read_spec(struct claim_lookup *lookup, struct named_claim *claim)
{
    const struct claim_classes classes = {find_class, covers, lookup};
    struct allocate_claim *asked = &claim->claim.asked;
    if (!claim->spec || !pay(lookup, strlen(claim->spec))) {
        fail(claim, REASON_CLAIM_NOT_JUDGED, "the claims are too long");
        return;
    }
    const struct claim_spec spec = claim_spec_from_text(claim->spec, &classes, lookup->arena);
    asked->requests = spec.requests;
    asked->n_requests = spec.n_requests;
    asked->constraints = spec.constraints;
    asked->n_constraints = spec.n_constraints;
    if (spec.not_judged)
        fail(claim, REASON_CLAIM_NOT_JUDGED, spec.not_judged);
    else
        check_wants(lookup, claim);
    claim->claim.needs_others = !spec.is_covered || wants_all(asked);
}

static void read_nodes(struct claim_lookup *lookup, struct named_claim *claim)
{
    struct err err;
    if (!claim->nodes || (claim->nodes[0] && claim_nodes_from_text(claim->nodes, lookup->arena,
                                                                   &claim->claim.nodes, &err) < 0))
        fail(claim, REASON_CLAIM_NOT_JUDGED,
             "the nodes that reach the devices of an allocated claim are unknown");
}

/* ---- requests of the manifest ---- */

/* Without a known class it may match devices of all drivers. */
static bool request_needs_others(struct claim_lookup *lookup, const struct device_request *request,
                                 const struct named_class *class)
{
    return !class || !class->asked.request ||
           !covers(lookup, request->class_name, driver_of(request, lookup->arena));
}

/* Of a class, its selectors are those of a request without a class. */
static void read_request(struct claim_lookup *lookup, const struct device_request *request)
{
    static const struct allocate_class NONE = {.name = ""};
    struct named_class *class =
        request->class_name[0] ? class_of(lookup, request->class_name) : NULL;
    const bool is_read = class && class->asked.request == request;
    struct asked_request *asked = &lookup->requests[lookup->n_requests++];
    *asked =
        (struct asked_request){.request = request,
                               .class = class && !request->is_class ? &class->asked : NULL,
                               .want = {.class_name = request->class_name,
                                        .device_class = &NONE,
                                        .selectors = is_read ? class->asked.class.selectors
                                                             : compile(request, lookup->arena)},
                               .needs_others = request_needs_others(lookup, request, class)};
    if (request->lacks_selectors)
        asked->want.not_judged = "some of its selectors are left out";
    if (asked->class && asked->class->request)
        asked->want.device_class = &class->asked.class;
}

/* Then the classes of the cluster that they name. */
static void read_requests(struct claim_lookup *lookup)
{
    const struct device_request_list *list = lookup->sources.requests;
    const size_t n = list ? list->n : 0;
    lookup->requests = ARENA_ARRAY(lookup->arena, struct asked_request, 2 * n);
    for (size_t i = 0; i < n; i++)
        read_request(lookup, &list->items[i]);
    for (size_t i = 0; i < n; i++) {
        if (list->items[i].is_class || !list->items[i].class_name[0])
            continue;
        struct named_class *class = class_of(lookup, list->items[i].class_name);
        if (class->asked.request && !class->is_listed)
            read_request(lookup, class->asked.request);
        class->is_listed = true;
    }
}

const struct asked_request *claim_lookup_requests(const struct claim_lookup *lookup, size_t *ret_n)
{
    *ret_n = lookup->n_requests;
    return lookup->requests;
}

/* ---- devices ---- */

static struct claims_reads reads_of(const struct claim_lookup *lookup)
{
    struct claims_reads reads = {0};
    for (const struct named_class *class = lookup->classes; class; class = class->hh.next)
        claims_reads_add(&reads, &class->asked.class.selectors, lookup->arena);
    for (const struct named_claim *claim = lookup->claims; claim; claim = claim->hh.next)
        claims_reads_add_claim(&reads, &claim->claim.asked, lookup->arena);
    for (size_t i = 0; i < lookup->n_requests; i++)
        claims_reads_add(&reads, &lookup->requests[i].want.selectors, lookup->arena);
    return reads;
}

static void read_some(struct claim_lookup *lookup)
{
    const struct inventory_view view CLEANUP(inventory_done) =
        inventory_read(lookup->sources.inventory);
    lookup->minor = cluster_minor(view.cluster);
    device_copy_read_some(lookup->copy, cluster_devices(view.cluster),
                          cluster_knows(view.cluster, CLUSTER_CLAIMS));
}

static bool needs_others(const struct claim_lookup *lookup)
{
    bool needs = false;
    for (const struct named_claim *claim = lookup->claims; claim; claim = claim->hh.next)
        needs |= claim->claim.needs_others;
    for (size_t i = 0; i < lookup->n_requests; i++)
        needs |= lookup->requests[i].needs_others;
    return needs;
}

size_t claim_lookup_stands_for(const struct claim_lookup *lookup, size_t i)
{
    return lookup->stands_for ? lookup->stands_for[i] : 0;
}

static void read_devices(struct claim_lookup *lookup)
{
    const struct claim_sources *sources = &lookup->sources;
    const struct claims_reads reads = reads_of(lookup);
    const bool has_others = needs_others(lookup);
    lookup->copy = device_copy_new(reads.items, reads.n, &DEVICE_DETAILS_READER, lookup->arena);
    device_copy_name_drivers(lookup->copy, sources->policy, has_others);
    if (sources->devices)
        device_copy_give(lookup->copy, sources->devices);
    if (sources->nodes) {
        lookup->stands_for = ARENA_ARRAY(lookup->arena, size_t, sources->n_nodes);
        if (!claim_nodes_read(sources, has_others ? NULL : &reads, lookup->copy,
                              lookup->stands_for))
            lookup->steps_left = 0;
        return;
    }
    do
        read_some(lookup);
    while (!device_copy_end_step(lookup->copy));
}

void claim_lookup_run(struct claim_lookup *lookup)
{
    struct named_claim *claim = lookup->claims;
    while (claim)
        claim = find_some(lookup, claim);
    read_requests(lookup);
    bool needs_devices = lookup->n_requests > 0;
    for (claim = lookup->claims; claim; claim = claim->hh.next) {
        if (claim->claim.fault == REASON_FITS && claim->claim.is_allocated)
            read_nodes(lookup, claim);
        else if (claim->claim.fault == REASON_FITS)
            read_spec(lookup, claim);
        needs_devices |= claim->claim.fault == REASON_FITS && !claim->claim.is_allocated;
    }
    if (needs_devices)
        read_devices(lookup);
}

/* As the pod sees it. A claim that is said to be made for it, but is not, keeps it waiting. Source:
 * resourceclaim.IsForPod(). */
static struct pod_claim *claim_of(struct claim_lookup *lookup, struct named_claim *claim,
                                  const struct claims_user *pod, bool is_made)
{
    if (!claim)
        return &lookup->beyond;
    if (!is_made || !pod->uid[0] || !claim->owner_uid || strcmp(claim->owner_uid, pod->uid) == 0)
        return &claim->claim;
    struct pod_claim *foreign = arena_copy(lookup->arena, &claim->claim, 1, sizeof *foreign);
    foreign->fault = REASON_CLAIM_MISSING;
    foreign->cause = arena_printf(lookup->arena, "ResourceClaim %s/%s was not created for the pod",
                                  claim->namespace_, claim->name);
    return foreign;
}

static struct claim_rules *make_rules(struct claim_lookup *lookup, const struct claims_user *pod)
{
    struct pod_claim *named[POD_CLAIMS_MAX];
    size_t n = 0;
    for (const char *at = pod->claims; at && *at && n < POD_CLAIMS_MAX; n++) {
        struct named_claim *claim = find_claim(lookup, take_key(lookup, pod->namespace_, &at));
        named[n] = claim_of(lookup, claim, pod, pod->made_claims & UINT32_C(1) << n);
    }
    if (n == POD_CLAIMS_MAX) /* the ledger may have left out some */
        named[0] = &lookup->beyond;
    const struct claims_of_pod of = {named, n, pod->uid, lookup->minor, lookup->sources.nodes};
    return claim_rules_of(&of, lookup->copy, &lookup->steps_left, lookup->arena);
}

/* Pods that name the same claims share the verdicts; claims made from templates are a pod's own. */
struct claim_rules *claim_lookup_rules(struct claim_lookup *lookup, const struct claims_user *pod)
{
    struct shared_rules *shared = NULL;
    if (!pod->claims || !pod->claims[0])
        return NULL;
    const char *key = arena_printf(lookup->arena, "%s\n%s%s", pod->namespace_, pod->claims,
                                   pod->made_claims ? pod->uid : "");
    HASH_FIND_STR(lookup->rules, key, shared);
    if (!shared) {
        shared = ARENA_NEW(lookup->arena, struct shared_rules);
        HASH_ADD_KEYPTR(hh, lookup->rules, key, strlen(key), shared);
    }
    if (!shared->rules || !claim_rules_are_reusable(shared->rules))
        shared->rules = make_rules(lookup, pod);
    return shared->rules;
}

bool claim_lookup_was_spent(const struct claim_lookup *lookup, const struct claim_rules *rules)
{
    bool is_beyond = claim_rules_are_cut(rules);
    for (size_t i = 0; i < claim_rules_n(rules); i++)
        is_beyond |= claim_rules_claim(rules, i) == &lookup->beyond;
    return is_beyond;
}

/* Keeps those of before when too much work was done. */
static void find_kinds(struct claim_lookup *lookup)
{
    const size_t n_taken = device_copy_n_taken(lookup->copy);
    if (lookup->has_kinds && (lookup->n_taken == n_taken || lookup->count_steps_left == 0))
        return;
    lookup->kinds = device_copy_kinds(lookup->copy, lookup->arena);
    size_t n_devices = 0;
    for (size_t i = 0; i < lookup->kinds.n_with_others; i++)
        n_devices += lookup->kinds.items[i].n;
    const uint64_t steps = n_devices / DEVICES_OF_A_STEP;
    lookup->count_steps_left -= steps < lookup->count_steps_left ? steps : lookup->count_steps_left;
    lookup->has_kinds = true;
    lookup->n_taken = n_taken;
}

static struct want_counts *counts_of(struct claim_lookup *lookup, const struct allocate_want *want)
{
    struct want_counts *counts = NULL;
    HASH_FIND_PTR(lookup->counts, &want, counts);
    if (counts)
        return counts;
    counts = ARENA_NEW(lookup->arena, struct want_counts);
    counts->want = want;
    counts->n_taken = SIZE_MAX;
    HASH_ADD_PTR(lookup->counts, want, counts);
    return counts;
}

struct claims_seen claim_lookup_seen(struct claim_lookup *lookup, bool with_others)
{
    find_kinds(lookup);
    const struct device_copy_kinds *kinds = &lookup->kinds;
    struct claims_seen seen = {kinds->items, with_others ? kinds->n_with_others : kinds->n,
                               kinds->not_judged};
    if (!seen.not_judged && with_others)
        seen.not_judged = kinds->others_not_judged;
    return seen;
}

const struct claims_count *claim_lookup_count(struct claim_lookup *lookup,
                                              const struct allocate_want *want, bool with_others)
{
    if (!lookup->copy || !want->device_class)
        return NULL;
    const struct claims_seen seen = claim_lookup_seen(lookup, with_others);
    struct want_counts *counts = counts_of(lookup, want);
    if (counts->n_taken != lookup->n_taken)
        counts->count = claims_count(want, &seen, &lookup->count_steps_left, lookup->arena);
    counts->n_taken = lookup->n_taken;
    return &counts->count;
}
