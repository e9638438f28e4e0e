/* views: the verbs that show one answer. */
#include "api/tables.h"
#include "formats/json_values.h"
#include "verbs.h"

static bool is_for_machines(const struct session *session)
{
    return session->arguments.form == FORM_JSON || session->arguments.form == FORM_YAML;
}

/* Tells a mistyped selector from an empty cluster. JSON and YAML show an empty list, and get no
 * message, as with kubectl. */
static void say_if_none(const struct session *session, const json_t *answer, const char *list)
{
    const char *selector = session->arguments.selector;
    if (selector && !is_for_machines(session) && json_array_size(json_member(answer, list)) == 0)
        (void)session_complain(session,
                               arena_printf(session->arena, "no %s match the selector %.300s",
                                            strcmp(list, "models") == 0 ? "GPUs" : list, selector),
                               EXIT_FINE);
}

static int show(const struct session *session, const char *view, print_table *write,
                const struct print_names *names)
{
    json_t *answer = NULL;
    int status = session_ask_or_complain(session, view, NULL, &answer);
    if (status == EXIT_FINE) {
        say_if_none(session, answer, names ? names->list : "models");
        status = print_answer(session, answer, write, names, true, EXIT_FINE);
    }
    json_decref(answer);
    return status;
}

int verbs_nodes(struct session *session)
{
    static const struct print_names NAMES = {"nodes", "node"};
    const char *node = session->arguments.object;
    if (node && strncmp(node, "node/", strlen("node/")) == 0) /* as --output=name calls it */
        node += strlen("node/");
    session_add_parameter(session, "node", node);
    session_add_parameter(session, "model", session->arguments.model);
    session_add_parameter(session, "labelSelector", session->arguments.selector);
    return show(session, "inventory", tables_write_inventory, &NAMES);
}

int verbs_pending(struct session *session)
{
    static const struct print_names NAMES = {"pods", "pod"};
    session_add_parameter(session, "namespace", session->namespace_);
    session_add_parameter(session, "labelSelector", session->arguments.selector);
    return show(session, "pending", tables_write_pending, &NAMES);
}

int verbs_quota(struct session *session)
{
    static const struct print_names NAMES = {"quotas", "quota"};
    session_add_parameter(session, "namespace", session->namespace_);
    return show(session, "quota", tables_write_quota, &NAMES);
}

int verbs_frag(struct session *session)
{
    session_add_parameter(session, "model", session->arguments.model);
    session_add_parameter(session, "labelSelector", session->arguments.selector);
    return show(session, "fragmentation", tables_write_fragmentation, NULL);
}

int verbs_groups(struct session *session)
{
    static const struct print_names NAMES = {"groups", "group"};
    session_add_parameter(session, "namespace", session->namespace_);
    return show(session, "groups", tables_write_groups, &NAMES);
}

int verbs_node_groups(struct session *session)
{
    return show(session, "node-groups", tables_write_node_groups, NULL);
}
