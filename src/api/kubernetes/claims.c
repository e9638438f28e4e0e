/* claims: see claims.h. Only pods of its namespace can use a claim. */
#include "api/kubernetes/claims.h"
#include "api/cluster/claims_table.h"
#include "api/cluster/inventory_claims.h"
#include "api/text.h"

const struct kind_member CLAIM_MEMBERS[] = {
    {"state", "string", "in use, unused (no pod uses it) or terminating."},
    {"node", "string", "The node of its devices; empty: several nodes reach them."},
    {"model", "string", "The GPU model of its first device; empty: not known."},
    {"pods", "string", "The pods that use it, as text."},
    {"deviceNames", "string", "Its GPUs as pool/device, as text."},
    {"devices", "objects",
     "Its GPUs: driver, pool, device, model, published, partition, shared, adminAccess."},
    {"reservedFor", "objects", "The pods that use it: pod, uid."},
    {"reservedForCount", "integer", "How many use it, also others than pods."},
    {"unused", "boolean", "It is allocated, and nothing uses it."},
    {"terminating", "boolean", "It is being deleted."},
    {0},
};

const struct kind_column CLAIM_COLUMNS[] = {
    {"State", "state", 0}, {"Node", "node", 0},           {"Model", "model", 0},
    {"Pods", "pods", 0},   {"Devices", "deviceNames", 1}, {0},
};

static void add_claim(const struct objects_query *query, const json_t *claim,
                      struct objects *objects)
{
    const json_t *first = json_array_get(json_object_get(claim, "devices"), 0);
    const struct objects_metadata metadata = {.namespace_ = text_member(claim, "namespace"),
                                              .name = text_member(claim, "name")};
    json_t *status =
        json_pack("{s:s, s:s, s:s, s:s}", "state", claims_table_state(claim), "model",
                  text_member(first, "model"), "pods", claims_table_users(claim, query->arena),
                  "deviceNames", claims_table_devices(claim, query->arena));
    objects_pick(CLAIM_MEMBERS, claim, status);
    objects_add(objects, query, &metadata, status);
}

bool claims_find_objects(const struct objects_query *query, struct objects *objects)
{
    const char *namespace_ = query->selection->namespace_;
    const struct claims_copy copy =
        inventory_claims_copy(query->api->inventory, *namespace_ ? namespace_ : NULL, query->arena);
    json_t *claims = inventory_claims_json(&copy);
    size_t i = 0;
    json_t *claim = NULL;
    json_array_foreach (claims, i, claim)
        add_claim(query, claim, objects);
    json_decref(claims);
    return true;
}
