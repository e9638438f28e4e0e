/* views: the verbs that show one answer. */
#include "api/tables.h"
#include "formats/json_get.h"
#include "print.h"
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
    session_add_parameter(session, "node", session->arguments.object);
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

int verbs_node_groups(struct session *session)
{
    return show(session, "node-groups", tables_write_node_groups, NULL);
}

/* ---- claims ---- */

/* The inventory's claims in the namespace, and the members that tell how good the data are. */
static json_t *claims_of(const json_t *inventory, const char *namespace_)
{
    static const char *const KEPT[] = {"asOf",
                                       "source",
                                       "live",
                                       "usable",
                                       "unusableBecause",
                                       "claimsCounted",
                                       "claimsNotCountedBecause",
                                       "claimsOmitted",
                                       "warnings"};
    json_t *answer = json_object();
    json_t *claims = json_array();
    size_t i = 0;
    json_t *claim = NULL;
    for (size_t j = 0; j < sizeof KEPT / sizeof *KEPT; j++)
        (void)json_object_set(answer, KEPT[j], json_object_get(inventory, KEPT[j]));
    json_array_foreach (json_member(inventory, "claims"), i, claim) {
        const char *of_claim = "";
        (void)json_get_string(claim, "namespace", &of_claim, NULL);
        if (!namespace_ || strcmp(of_claim, namespace_) == 0)
            (void)json_array_append(claims, claim);
    }
    (void)json_object_set_new(answer, "claims", claims);
    return answer;
}

/* Claims outside of the selector or the namespace may hold GPUs. */
static void say_if_no_claims(const struct session *session, const json_t *answer)
{
    const char *namespace_ = session->namespace_;
    say_if_none(session, answer, "claims");
    if (!session->arguments.selector && !is_for_machines(session) &&
        json_array_size(json_member(answer, "claims")) == 0)
        (void)session_complain(session,
                               arena_printf(session->arena, "no claims%s%.300s hold GPUs",
                                            namespace_ ? " in the namespace " : "",
                                            namespace_ ? namespace_ : ""),
                               EXIT_FINE);
}

int verbs_claims(struct session *session)
{
    static const struct print_names NAMES = {"claims", "resourceclaim"};
    json_t *inventory = NULL;
    session_add_parameter(session, "claimSelector", session->arguments.selector);
    int status = session_ask_or_complain(session, "inventory", NULL, &inventory);
    if (status != EXIT_FINE)
        return status;
    json_t *claims = claims_of(inventory, session->namespace_);
    say_if_no_claims(session, claims);
    status = print_answer(session, claims, tables_write_claims, &NAMES, true, EXIT_FINE);
    json_decref(claims);
    json_decref(inventory);
    return status;
}
