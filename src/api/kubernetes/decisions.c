/* decisions: see decisions.h. A decision's name is its number. */
#include "api/kubernetes/decisions.h"
#include "api/cluster/decisions_json.h"
#include "api/text.h"
#include "base/text_time.h"

const struct kind_member DECISION_MEMBERS[] = {
    {"verb", "string", "What kube-scheduler asked: filter, prioritize, preempt or bind."},
    {"pod", "string", "The pod that it asked about."},
    {"outcome", "string", "The answer, as text."},
    {"uid", "string", "The UID of the pod."},
    {"number", "integer", "Decisions are numbered from 1, from the start of the service."},
    {"time", "string", "When it was answered."},
    {"tookMicroseconds", "integer", "How long the answer took."},
    {"ledgerVersion", "integer", "The version of the inventory that it was made from."},
    {"nodesAsked", "integer", "The number of nodes that it was asked about."},
    {"nodesHandedOn", "integer", "The number of nodes in the answer."},
    {"verdicts", "object", "The numbers of nodes by reason."},
    {"best", "objects", "The best nodes: node, score, costMillionths."},
    {"node", "string", "The node of a binding; else empty."},
    {"error", "string", "What failed, or why no node can run the pod; else empty."},
    {"claims", "string", "Whether resource claims ranked the nodes, for prioritize."},
    {"observed", "boolean", "It had no effect, because of mode: observe."},
    {"wouldDiffer", "boolean", "With mode: enforce the answer would have been another."},
    {0},
};

const struct kind_column DECISION_COLUMNS[] = {
    {"Verb", "verb", 0},
    {"Pod", "pod", 0},
    {"Outcome", "outcome", 0},
    {"Age", NULL, 0},
    {"Asked", "nodesAsked", 1},
    {"Handed On", "nodesHandedOn", 1},
    {0},
};

static void add_decision(const struct objects_query *query, const json_t *decision,
                         struct objects *objects)
{
    const json_t *pod = json_object_get(decision, "pod");
    struct objects_metadata metadata = {
        .namespace_ = text_member(pod, "namespace"),
        .name = arena_printf(query->arena, "%010lld",
                             (long long)json_integer_value(json_object_get(decision, "number")))};
    if (!*metadata.namespace_)
        return;
    (void)text_time_read(text_member(decision, "time"), &metadata.created_s);
    json_t *status = json_pack("{s:s, s:s, s:s}", "pod", text_member(pod, "name"), "uid",
                               text_member(pod, "uid"), "outcome",
                               decisions_json_outcome(decision, query->arena));
    objects_pick(DECISION_MEMBERS, decision, status);
    objects_add(objects, query, &metadata, status);
}

bool decisions_find_objects(const struct objects_query *query, struct objects *objects)
{
    const char *namespace_ = query->selection->namespace_;
    if (!decisions_json_are_here(query->api, query->exchange))
        return false;
    json_t *decisions =
        decisions_json_of(query->api, *namespace_ ? namespace_ : NULL, query->arena);
    size_t i = 0;
    json_t *decision = NULL;
    json_array_foreach (decisions, i, decision)
        add_decision(query, decision, objects);
    json_decref(decisions);
    return true;
}
