/* why: why one pod waits, node by node. Without a namespace the pod is looked for in all that the
 * user may see. */
#include "api/tables.h"
#include "base/nearest.h"
#include "formats/json_get.h"
#include "print.h"
#include "verbs.h"

#include <stdint.h>
#include <strings.h>

/* Kinds as kubectl abbreviates them. owner: of their pods. */
static const struct {
    const char *names[4];
    const char *owner;
    bool is_hashed; /* the owner's name is this one and a hash of the template */
} KINDS[] = {
    {{"po", "pods", "pod"}, "Pod", false},
    {{"deploy", "deployments", "deployment"}, "ReplicaSet", true},
    {{"rc", "replicationcontrollers", "replicationcontroller"}, "ReplicationController", false},
    {{"rs", "replicasets", "replicaset"}, "ReplicaSet", false},
    {{"sts", "statefulsets", "statefulset"}, "StatefulSet", false},
    {{"ds", "daemonsets", "daemonset"}, "DaemonSet", false},
    {{"jobs", "job"}, "Job", false},
};

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
    const char *namespace_, *name; /* of the last one */
};

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

/* Pods of the list whose name, the member `key`, is this. */
static void add_named(const json_t *list, const char *key, const char *wanted, struct found *found,
                      struct arena *arena)
{
    size_t i = 0;
    json_t *item = NULL;
    json_array_foreach (list, i, item) {
        const char *name = "";
        const char *namespace_ = "";
        (void)json_get_string(item, key, &name, NULL);
        (void)json_get_string(item, "namespace", &namespace_, NULL);
        if (*namespace_ && strcmp(name, wanted) == 0)
            add(namespace_, name, found, arena);
    }
}

/* NAME, or NAME-HASH. */
static bool is_of_name(const struct wanted_pod *wanted, const char *name)
{
    const size_t len = strlen(wanted->name);
    if (!wanted->is_hashed)
        return strcmp(name, wanted->name) == 0;
    return strncmp(name, wanted->name, len) == 0 && name[len] == '-' && name[len + 1] &&
           !strchr(name + len + 1, '-');
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
        if (*pod && strcasecmp(kind, wanted->kind) == 0 && is_of_name(wanted, name))
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

/* In the namespace; NULL: in all. Returns the status; silent: without a complaint. */
static int find_pods(struct session *session, const struct wanted_pod *wanted,
                     const char *namespace_, bool is_silent, struct found *found)
{
    ask_for(session, namespace_, NULL);
    struct asked pending = session_ask(session, "pending", NULL);
    if (pending.status != EXIT_FINE)
        return is_silent ? pending.status
                         : session_complain(session, pending.message, pending.status);
    add_owned(pending.value, wanted, found, session->arena);
    if (strcmp(wanted->kind, "Pod") == 0)
        add_named(json_member(pending.value, "pods"), "name", wanted->name, found, session->arena);
    json_decref(pending.value);
    return EXIT_FINE;
}

/* Pods that have GPUs. A user who may not see the nodes is told of waiting pods alone. */
static void find_holders(struct session *session, const struct wanted_pod *wanted,
                         struct found *found)
{
    size_t i = 0;
    json_t *node = NULL;
    ask_for(session, NULL, NULL);
    struct asked inventory = session_ask(session, "inventory", NULL);
    json_array_foreach (json_member(inventory.value, "nodes"), i, node)
        add_named(json_member(node, "holders"), "pod", wanted->name, found, session->arena);
    json_decref(inventory.value);
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

static int complain_of_none(const struct session *session, const struct wanted_pod *wanted)
{
    const bool is_given = session->arguments.given & TAKES_NAMESPACE;
    struct nearest nearest = {.asked = wanted->kind, .least = SIZE_MAX};
    for (size_t i = 0; !wanted->is_known && i < sizeof KINDS / sizeof *KINDS; i++) {
        for (size_t j = 0; j < 4 && KINDS[i].names[j]; j++)
            (void)nearest_try(&nearest, KINDS[i].names[j]);
    }
    return session_complain(
        session,
        arena_printf(session->arena, "no pod of %.300s waits for GPUs%s%.300s%s%s%s",
                     session->arguments.object, is_given ? " in the namespace " : "",
                     is_given ? session->namespace_ : "", nearest.found ? "; did you mean " : "",
                     nearest.found ? nearest.found : "", nearest.found ? "/?" : ""),
        EXIT_NOT);
}

/* The namespace that was given, or all; or, without that right, the default one. */
static int explain_owner(struct session *session, const struct wanted_pod *wanted)
{
    const bool is_given = session->arguments.given & TAKES_NAMESPACE;
    struct found found = {0};
    int status = is_given ? EXIT_NO_ANSWER : find_pods(session, wanted, NULL, true, &found);
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
    /* "NAMESPACE/NAME", as answers call pods. */
    struct asked pod = {.status = EXIT_NOT};
    if (!is_given && !wanted->is_known)
        pod = ask_why(session, wanted->kind, wanted->name);
    return pod.status == EXIT_FINE ? show(session, &pod) : complain_of_none(session, wanted);
}

int verbs_why(struct session *session)
{
    const struct wanted_pod wanted = read_object(session->arguments.object, session->arena);
    struct found found = {0};
    if (strcmp(wanted.kind, "Pod") != 0)
        return explain_owner(session, &wanted);
    struct asked answer = ask_why(session, session->namespace_, wanted.name);
    if (answer.status == EXIT_NOT && !(session->arguments.given & TAKES_NAMESPACE) &&
        find_pods(session, &wanted, NULL, true, &found) == EXIT_FINE)
        find_holders(session, &wanted, &found);
    if (found.pods.n > 1)
        return complain_of_many(session, &wanted, &found);
    if (found.pods.n == 1)
        answer = ask_why(session, found.namespace_, found.name);
    return show(session, &answer);
}
