/* routes: the paths for users; docs/openapi.yaml lists them. */
#include "api/api.h"

#include <string.h>

void api_routes(struct api *api, const struct gate *people, struct route ret_routes[API_N_ROUTES])
{
    const struct route routes[API_N_ROUTES] = {
        {"POST", "/v1/dry-run", LISTEN_PEOPLE, "dry_run", api_dry_run, api, people, API_DRY_RUN},
        {"POST", "/v1/what-if", LISTEN_PEOPLE, "what_if", api_what_if, api, people, API_DRY_RUN},
        {"GET", "/v1/node-groups", LISTEN_PEOPLE, "node_groups", api_node_groups, api, people,
         API_OUTPUT},
        {"GET", "/v1/inventory", LISTEN_PEOPLE, "inventory", api_inventory, api, people,
         API_INVENTORY},
        {"GET", "/v1/pending", LISTEN_PEOPLE, "pending", api_pending, api, people, API_PENDING},
        {"GET", "/v1/decisions", LISTEN_PEOPLE, "decisions", api_decisions, api, people,
         API_DECISIONS},
        {"GET", "/v1/groups", LISTEN_PEOPLE, "groups", api_groups, api, people, API_NAMESPACE},
        {"GET", "/v1/observed", LISTEN_PEOPLE, "observed", api_observed, api, people,
         API_NAMESPACE},
        {"GET", "/v1/fragmentation", LISTEN_PEOPLE, "fragmentation", api_fragmentation, api, people,
         API_FRAGMENTATION},
        {"GET", "/v1/quota", LISTEN_PEOPLE, "quota", api_quota, api, people, API_NAMESPACE},
        {"GET", "/v1/policy", LISTEN_PEOPLE, "policy", api_policy, api, people, API_OUTPUT},
        {"GET", "/v1/snapshot", LISTEN_PEOPLE, "snapshot", api_snapshot, api, people, API_NONE},
        {"GET", "/v1/pods/", LISTEN_PEOPLE, "explain", api_explain, api, people, API_OUTPUT},
        {"GET", "/v1/explain", LISTEN_PEOPLE, "explain", api_explain_named, api, people,
         API_EXPLAIN},
    };
    memcpy(ret_routes, routes, sizeof routes);
}
