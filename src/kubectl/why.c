/* why: why one pod waits, node by node. Without a namespace the pod is looked for in all that the
 * user may see. */
#include "api/tables.h"
#include "base/nearest.h"
#include "config/syntax.h"
#include "formats/json_values.h"
#include "verbs.h"

#include <ctype.h>
#include <stdint.h>
#include <strings.h>

/* Kinds as kubectl abbreviates them. owner: of their pods. */
static const struct {
    const char *names[4];
    const char *owner;
    bool is_hashed; /* the owner's name is this one and a hash of the template, or a time */
} KINDS[] = {
    {{"po", "pods", "pod"}, "Pod", false},
    {{"deploy", "deployments", "deployment"}, "ReplicaSet", true},
    {{"rc", "replicationcontrollers", "replicationcontroller"}, "ReplicationController", false},
    {{"rs", "replicasets", "replicaset"}, "ReplicaSet", false},
    {{"sts", "statefulsets", "statefulset"}, "StatefulSet", false},
    {{"ds", "daemonsets", "daemonset"}, "DaemonSet", false},
    {{"jobs", "job"}, "Job", false},
    {{"cj", "cronjobs", "cronjob"}, "Job", true},
    {{"no", "nodes", "node"}, "Node", false}, /* waits for nothing */
};

#define EXPECTED                                                                                   \
    "should be POD, NAMESPACE/POD or KIND/NAME, such as deploy/web (kubectl gpu pending lists "    \
    "what waits for GPUs)"

#define TIME_DIGITS_MIN 8

/* What KIND/NAME stands for. */
struct wanted_pod {
    const char *kind; /* of the owner, in the arena */
    const char *name;
    bool is_known; /* the kind is one of KINDS */
    bool is_hashed;
};

/* kind: len bytes */
static bool is_called(size_t i, const char *kind, size_t len)
{
    for (size_t j = 0; j < 4 && KINDS[i].names[j]; j++) {
        if (strlen(KINDS[i].names[j]) == len && strncasecmp(KINDS[i].names[j], kind, len) == 0)
            return true;
    }
    return false;
}

/* Whether the words are names at all. */
static int check_object(const char *object, struct err *err)
{
    const char *slash = strchr(object, '/');
    const char *name = slash ? slash + 1 : object;
    if (*object && (!slash || strcspn(object, "./") > 0) && !syntax_object_name(name))
        return 0;
    return err_set(err, EINVAL, "%.200s: %s" EXPECTED, *object ? object : "POD",
                   *object ? "has no name of small letters, digits, '-' and '.', " : "is empty, ");
}

/* POD is a pod. A group may follow the kind, as in "deployment.apps/web" of kubectl get -o name. */
static struct wanted_pod read_object(const char *object, struct arena *arena)
{
    const char *slash = strchr(object, '/');
    if (!slash)
        return (struct wanted_pod){"Pod", object, true, false};
    const size_t len = strcspn(object, "./");
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        if (is_called(i, object, len))
            return (struct wanted_pod){KINDS[i].owner, slash + 1, true, KINDS[i].is_hashed};
    }
    return (struct wanted_pod){arena_strndup(arena, object, len), slash + 1, false, false};
}

/* ---- where it is ---- */

/* Pods found, as NAMESPACE/NAME. */
struct found {
    struct file_names pods;
    const char *namespace_, *name;       /* of the last one */
    struct nearest near_kind, near_name; /* to what was asked for, in the arena */
    bool has_kind, has_namespace;        /* some pod is of that kind; is in a namespace so called */
};

static struct found nothing_for(const struct wanted_pod *wanted)
{
    return (struct found){.near_kind = {.asked = wanted->kind, .least = SIZE_MAX},
                          .near_name = {.asked = wanted->name, .least = SIZE_MAX}};
}

/* shown: instead of `known`. */
static void note_near(struct nearest *nearest, const char *known, const char *shown,
                      struct arena *arena)
{
    if (nearest_try(nearest, known))
        nearest->found = arena_strdup(arena, shown);
}

/* Short words are near to many. */
static void note_kind(struct found *found, const char *kind, struct arena *arena)
{
    if (nearest_is_typo(found->near_kind.asked, kind))
        note_near(&found->near_kind, kind, kind, arena);
}

static void add(const char *namespace_, const char *name, struct found *found, struct arena *arena)
{
    const char *pod = arena_printf(arena, "%s/%s", namespace_, name);
    for (size_t i = 0; i < found->pods.n; i++) {
        if (strcmp(found->pods.items[i], pod) == 0)
            return;
    }
    arguments_add_name(&found->pods, pod, arena);
    found->namespace_ = arena_strdup(arena, namespace_);
    found->name = arena_strdup(arena, name);
}

/* Pods of the list whose name, the member `key`, is the one that is wanted. */
static void add_named(const json_t *list, const char *key, const struct wanted_pod *wanted,
                      struct found *found, struct arena *arena)
{
    size_t i = 0;
    json_t *item = NULL;
    json_array_foreach (list, i, item) {
        const char *name = "";
        const char *namespace_ = "";
        (void)json_get_string(item, key, &name, NULL);
        (void)json_get_string(item, "namespace", &namespace_, NULL);
        found->has_namespace |= strcmp(namespace_, wanted->kind) == 0;
        if (*namespace_ && strcmp(name, wanted->name) == 0)
            add(namespace_, name, found, arena);
        else
            note_near(&found->near_name, name, arena_printf(arena, "%s/%s", namespace_, name),
                      arena);
    }
}

/* What users call an owner of that name: NAME of NAME-HASH; of a CronJob's Job, NAME of NAME-TIME,
 * in minutes. */
static const char *without_hash(const struct wanted_pod *wanted, const char *name,
                                struct arena *arena)
{
    const char *hash = wanted->is_hashed ? strrchr(name, '-') : NULL;
    const bool is_time = hash && strspn(hash + 1, "0123456789") == strlen(hash + 1) &&
                         strlen(hash + 1) >= TIME_DIGITS_MIN;
    if (!wanted->is_hashed)
        return name;
    return hash && hash[1] && (is_time || strcmp(wanted->kind, "Job") != 0)
               ? arena_strndup(arena, name, (size_t)(hash - name))
               : "";
}

/* "pytorchjobs" of "PyTorchJob" */
static bool is_of_kind(const struct wanted_pod *wanted, const char *kind)
{
    const size_t len = strlen(kind);
    return strncasecmp(wanted->kind, kind, len) == 0 &&
           (!wanted->kind[len] || strcasecmp(wanted->kind + len, "s") == 0);
}

/* The first waiting pod of each owner. */
static void add_owned(const json_t *pending, const struct wanted_pod *wanted, struct found *found,
                      struct arena *arena)
{
    size_t i = 0;
    json_t *owner = NULL;
    json_array_foreach (json_member(pending, "owners"), i, owner) {
        const char *kind = "";
        const char *name = "";
        const char *namespace_ = "";
        const char *pod = "";
        (void)json_get_string(owner, "kind", &kind, NULL);
        (void)json_get_string(owner, "name", &name, NULL);
        (void)json_get_string(owner, "namespace", &namespace_, NULL);
        (void)json_get_string(owner, "firstPod", &pod, NULL);
        name = without_hash(wanted, name, arena);
        found->has_namespace |= strcmp(namespace_, wanted->kind) == 0;
        note_kind(found, kind, arena);
        if (!*pod || !is_of_kind(wanted, kind))
            continue;
        found->has_kind = true;
        if (*name)
            note_near(&found->near_name, name, name, arena);
        if (strcmp(name, wanted->name) == 0)
            add(namespace_, pod, found, arena);
    }
}

static void ask_for(struct session *session, const char *namespace_, const char *name)
{
    memset(session->query, 0, sizeof session->query);
    session->n_query = 0;
    session_add_parameter(session, "namespace", namespace_);
    session_add_parameter(session, "name", name);
}

/* In the namespace; NULL: in all. Returns the status; silent: no complaint but of the namespace. */
static int find_pods(struct session *session, const struct wanted_pod *wanted,
                     const char *namespace_, bool is_silent, struct found *found)
{
    ask_for(session, namespace_, NULL);
    struct asked pending = session_ask(session, "pending", NULL);
    if (pending.status != EXIT_FINE)
        return is_silent && pending.status != EXIT_MISTAKE
                   ? pending.status
                   : session_complain(session, pending.message, pending.status);
    add_owned(pending.value, wanted, found, session->arena);
    if (strcmp(wanted->kind, "Pod") == 0)
        add_named(json_member(pending.value, "pods"), "name", wanted, found, session->arena);
    json_decref(pending.value);
    return EXIT_FINE;
}

/* The pods that have GPUs, the caller's; namespace_ NULL: of all. A user who may not see the nodes
 * is told of waiting pods alone; NULL. */
static json_t *ask_holders(struct session *session, const char *namespace_)
{
    json_t *holders = json_array();
    size_t i = 0;
    json_t *node = NULL;
    ask_for(session, namespace_, NULL);
    struct asked inventory = session_ask(session, "inventory", NULL);
    json_array_foreach (json_member(inventory.value, "nodes"), i, node)
        (void)json_array_extend(holders, json_member(node, "holders"));
    json_decref(inventory.value);
    if (inventory.status == EXIT_FINE)
        return holders;
    json_decref(holders);
    return NULL;
}

/* Returns whether it knows all of them. */
static bool find_holders(struct session *session, const struct wanted_pod *wanted,
                         struct found *found)
{
    json_auto_t *holders = ask_holders(session, NULL);
    add_named(holders, "pod", wanted, found, session->arena);
    return holders != NULL;
}

/* Of the owner's pods, how many have GPUs. Notes the names of other owners. */
static size_t count_placed(struct session *session, const struct wanted_pod *wanted,
                           const char *namespace_, struct nearest *near)
{
    json_auto_t *holders = ask_holders(session, namespace_);
    size_t n = 0;
    size_t i = 0;
    json_t *holder = NULL;
    json_array_foreach (holders, i, holder) {
        const json_t *controller = json_member(holder, "controller");
        const char *kind = "";
        const char *name = "";
        (void)json_get_string(controller, "kind", &kind, NULL);
        (void)json_get_string(controller, "name", &name, NULL);
        if (!is_of_kind(wanted, kind))
            continue;
        name = without_hash(wanted, name, session->arena);
        n += strcmp(name, wanted->name) == 0;
        if (*name)
            note_near(near, name, name, session->arena);
    }
    return n;
}

/* ---- the answer ---- */

static int complain_of_many(const struct session *session, const struct wanted_pod *wanted,
                            const struct found *found)
{
    struct buf names;
    buf_init(&names, 600);
    for (size_t i = 0; i < found->pods.n && !names.overflowed; i++)
        buf_printf(&names, "%s%s", i > 0 ? ", " : "", found->pods.items[i]);
    const bool are_named = strcmp(wanted->kind, "Pod") == 0;
    const char *text = arena_printf(
        session->arena, "%zu pods are %s %.300s: %s%s. Add -n NAMESPACE%s.", found->pods.n,
        are_named ? "named" : "meant by", are_named ? wanted->name : session->arguments.object,
        buf_text(&names), names.overflowed ? " ..." : "", are_named ? "" : ", or name the pod");
    const int status = session_complain(session, text, EXIT_MISTAKE);
    buf_fini(&names);
    return status;
}

static struct asked ask_why(struct session *session, const char *namespace_, const char *name)
{
    ask_for(session, namespace_, name);
    return session_ask(session, "explain", NULL);
}

static bool is_missing(const struct asked *answer)
{
    return answer->status == EXIT_MISTAKE && answer->http == 404;
}

/* Said where a namespace was looked for. Not in JSON, which is the service's answer. */
static void mark_only(const struct session *session, const json_t *answer)
{
    const enum form form = session->arguments.form;
    if (form == FORM_TABLE || form == FORM_WIDE)
        (void)json_object_set_new(json_object_get(answer, "pod"), TABLES_ONLY_OF_NAME, json_true());
}

static int show(const struct session *session, const struct asked *answer)
{
    static const struct print_names NAMES = {"pod", "pod"};
    if (answer->status != EXIT_FINE)
        return session_complain(session, answer->message, answer->status);
    const int status =
        print_answer(session, answer->value, tables_write_explanation, &NAMES, true, EXIT_FINE);
    json_decref(answer->value);
    return status;
}

static const char *given_namespace(const struct session *session)
{
    return session->arguments.given & TAKES_NAMESPACE ? session->namespace_ : NULL;
}

static int complain_of_namespace(const struct session *session, const struct wanted_pod *wanted)
{
    return session_complain(
        session,
        arena_printf(session->arena, "%.300s: is in the namespace %s, but --namespace is %.100s",
                     session->arguments.object, wanted->kind, session->namespace_),
        EXIT_MISTAKE);
}

/* near: NULL: nothing is near. */
static int complain_near(const struct session *session, const char *text, const char *near)
{
    if (near)
        text = arena_printf(session->arena, "%s; did you mean %s?", text, near);
    return session_complain(session, text, EXIT_MISTAKE);
}

/* Beyond the namespace that was given: the pod that is meant, where the caller may see all. */
static const char *find_elsewhere(struct session *session, const struct wanted_pod *wanted)
{
    struct found all = nothing_for(wanted);
    if (!given_namespace(session) || find_pods(session, wanted, NULL, true, &all) != EXIT_FINE)
        return NULL;
    if (strcmp(wanted->kind, "Pod") == 0)
        find_holders(session, wanted, &all);
    return all.pods.n > 0 ? all.pods.items[0] : NULL;
}

static int complain_of_none(struct session *session, const struct wanted_pod *wanted,
                            struct found *found)
{
    struct arena *arena = session->arena;
    const char *object = session->arguments.object;
    const char *given = given_namespace(session);
    const size_t n_placed = count_placed(session, wanted, given, &found->near_name);
    const char *near = n_placed > 0 ? NULL : found->near_name.found;
    if (near)
        near = arena_printf(arena, "%.*s/%s", (int)strcspn(object, "/"), object, near);
    const char *elsewhere = n_placed > 0 ? NULL : find_elsewhere(session, wanted);
    const char *text = arena_printf(arena, "no pod of %.300s waits for GPUs%s%.300s", object,
                                    given ? " in the namespace " : "", given ? given : "");
    if (n_placed == 0)
        return complain_near(session, text, elsewhere ? elsewhere : near);
    text = arena_printf(arena, "%s: %zu of its pods hold%s GPUs", text, n_placed,
                        n_placed == 1 ? "s" : "");
    return session_complain(session, text, EXIT_NOT);
}

/* near: a kind; in small letters, as users type it */
static const char *in_kind(const char *near, const struct wanted_pod *wanted, struct arena *arena)
{
    char *text = arena_printf(arena, "%s/%s", near, wanted->name);
    for (char *at = text; *at != '/'; at++)
        *at = (char)tolower((unsigned char)*at);
    return text;
}

/* "NAMESPACE/NAME", as answers call pods, or a kind that is unknown. */
static int explain_other(struct session *session, const struct wanted_pod *wanted,
                         struct found *found)
{
    struct arena *arena = session->arena;
    const char *given = given_namespace(session);
    struct asked pod = {.status = EXIT_MISTAKE, .http = 404};
    if (!given || strcmp(given, wanted->kind) == 0)
        pod = ask_why(session, wanted->kind, wanted->name);
    if (pod.status == EXIT_FINE)
        return show(session, &pod);
    (void)find_holders(session, wanted, found);
    if (!pod.message && found->has_namespace)
        return complain_of_namespace(session, wanted);
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        for (size_t j = 0; j < 4 && KINDS[i].names[j]; j++)
            note_kind(found, KINDS[i].names[j], arena);
    }
    const char *near = found->near_kind.found;
    if (pod.message && (found->has_namespace || (!is_missing(&pod) && !near)))
        return show(session, &pod);
    return complain_near(
        session,
        arena_printf(arena,
                     "%.200s: %.100s is neither a kind nor a namespace of pods that wait for GPUs "
                     "or hold them%s",
                     session->arguments.object, wanted->kind, near ? "" : "; " EXPECTED),
        near ? in_kind(near, wanted, arena) : NULL);
}

/* The namespace that was given, or all; or, without that right, the default one. */
static int explain_owner(struct session *session, const struct wanted_pod *wanted)
{
    struct found found = nothing_for(wanted);
    int status =
        given_namespace(session) ? EXIT_NO_ANSWER : find_pods(session, wanted, NULL, true, &found);
    if (status != EXIT_FINE)
        status = find_pods(session, wanted, session->namespace_, false, &found);
    if (status != EXIT_FINE)
        return status;
    if (found.pods.n > 1)
        return complain_of_many(session, wanted, &found);
    if (found.pods.n == 1) {
        const struct asked answer = ask_why(session, found.namespace_, found.name);
        return show(session, &answer);
    }
    return wanted->is_known || found.has_kind ? complain_of_none(session, wanted, &found)
                                              : explain_other(session, wanted, &found);
}

static int explain_pod(struct session *session, const struct wanted_pod *wanted)
{
    const char *given = given_namespace(session);
    struct found found = nothing_for(wanted);
    struct asked answer = ask_why(session, session->namespace_, wanted->name);
    const int status =
        is_missing(&answer) ? find_pods(session, wanted, given, true, &found) : EXIT_NOT;
    if (status == EXIT_MISTAKE)
        return status;
    const bool knows_all = status == EXIT_FINE && !given && find_holders(session, wanted, &found);
    if (found.pods.n > 1)
        return complain_of_many(session, wanted, &found);
    if (found.pods.n == 1) {
        answer = ask_why(session, found.namespace_, found.name);
        if (knows_all)
            mark_only(session, answer.value);
    }
    if (!is_missing(&answer))
        return show(session, &answer);
    const char *elsewhere = find_elsewhere(session, wanted);
    return complain_near(session, answer.message, elsewhere ? elsewhere : found.near_name.found);
}

int verbs_read_pod(struct session *session, const char **ret_name)
{
    const char *object = session->arguments.object;
    struct err err;
    if (check_object(object, &err) < 0)
        return session_complain(session, err.text, EXIT_MISTAKE);
    const struct wanted_pod wanted = read_object(object, session->arena);
    const char *given = given_namespace(session);
    if (wanted.is_known && strcmp(wanted.kind, "Pod") != 0)
        return session_complain(
            session,
            arena_printf(session->arena, "%s: is no pod, should be POD or NAMESPACE/POD", object),
            EXIT_MISTAKE);
    if (!wanted.is_known && given && strcmp(given, wanted.kind) != 0)
        return complain_of_namespace(session, &wanted);
    if (!wanted.is_known)
        session->namespace_ = wanted.kind;
    *ret_name = wanted.name;
    return EXIT_FINE;
}

int verbs_why(struct session *session)
{
    const char *object = session->arguments.object;
    struct err err;
    if (check_object(object, &err) < 0)
        return session_complain(session, err.text, EXIT_MISTAKE);
    const struct wanted_pod wanted = read_object(object, session->arena);
    if (strcmp(wanted.kind, "Node") == 0)
        return complain_near(
            session, arena_printf(session->arena, "%s: a node does not wait for GPUs", object),
            arena_printf(session->arena, "%s nodes %s", session->program, wanted.name));
    return strcmp(wanted.kind, "Pod") == 0 ? explain_pod(session, &wanted)
                                           : explain_owner(session, &wanted);
}
