/* claims: see claims.h. Only pods of its namespace can use a claim. */
#include "api/kubernetes/claims.h"
#include "api/cluster/claims_table.h"
#include "api/cluster/inventory_claims.h"
#include "api/reply.h"
#include "api/text.h"
#include "objects/label_text.h"

#include <utlist.h>

const struct kind_member CLAIM_MEMBERS[] = {
    {"state", "string", "in use, unused (no pod uses it) or terminating."},
    {"node", "string", "The node of its devices; empty: several nodes reach them."},
    {"model", "string", "The GPU model of its first device; empty: unknown."},
    {"pods", "string", "The pods that use it, as text."},
    {"deviceNames", "string", "Its GPUs as pool/device, as text."},
    {"devices", "objects",
     "Its GPUs: driver, pool, device, model, published, partition, shared, adminAccess."},
    {"reservedFor", "objects", "The pods that use it: pod, uid."},
    {"reservedForCount", "integer", "The number of its users: pods and others."},
    {"unused", "boolean", "It is allocated, and nothing uses it."},
    {"terminating", "boolean", "It is being deleted."},
    {0},
};

const struct kind_column CLAIM_COLUMNS[] = {
    {"State", "state", 0}, {"Node", "node", 0},           {"Model", "model", 0},
    {"Pods", "pods", 0},   {"Devices", "deviceNames", 1}, {0},
};

static void add_claim(const struct objects_query *query, const struct claim_copy *copy,
                      struct objects *objects)
{
    struct label_set set;
    json_t *claim = inventory_claims_json_of(copy);
    const json_t *first = json_array_get(json_object_get(claim, "devices"), 0);
    label_text_split(copy->labels, &set);
    json_t *labels = objects_labels(set.labels, set.n);
    const struct objects_metadata metadata = {
        .namespace_ = copy->namespace_, .name = copy->name, .labels = labels};
    json_t *status =
        json_pack("{s:s, s:s, s:s, s:s}", "state", claims_table_state(claim), "model",
                  text_member(first, "model"), "pods", claims_table_users(claim, query->arena),
                  "deviceNames", claims_table_devices(claim, query->arena));
    objects_pick(CLAIM_MEMBERS, claim, status);
    objects_add(objects, query, &metadata, status);
    json_decref(labels);
    json_decref(claim);
}

static bool admits(const void *context, const struct device_claim *claim)
{
    const struct selection *selection = context;
    struct selection_object object = {
        .namespace_ = claim->namespace_, .name = claim->name, .field = ""};
    struct label_set set;
    if (selection->n_fields > 0)
        object.field = inventory_claims_node(claim);
    if (inventory_claims_lack_labels(&selection->labels, claim))
        return false;
    if (selection->labels.n_requirements > 0) {
        label_text_split(claim->labels, &set);
        object.labels = set.labels;
        object.n_labels = set.n;
    }
    return selection_admits(selection, &object);
}

bool claims_find_objects(const struct objects_query *query, struct objects *objects)
{
    if (reply_defer_list(query->api->inventory, query->exchange))
        return false;
    const struct selection *selection = query->selection;
    const struct claims_page page = {.admits = admits,
                                     .context = selection,
                                     .after_namespace = selection->after_namespace,
                                     .after_name = selection->after_name,
                                     .limit = selection->limit};
    const struct claims_copy copy =
        inventory_claims_page(query->api->inventory, &page, query->arena);
    const struct claim_copy *claim = NULL;
    LL_FOREACH (copy.claims, claim)
        add_claim(query, claim, objects);
    objects->is_page = true;
    objects->has_more = copy.has_more;
    return true;
}
