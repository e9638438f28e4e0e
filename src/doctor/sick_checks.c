/* sick_checks: nodes whose kubelets reject pods. Only the running service knows them. */
#include "checks.h"
#include "formats/json_values.h"

#define CHECK "nodes.sick"
#define VIEW "/apis/visibility.gpu-extender.io/v1alpha1/views/inventory?state=marked"

void findings_add_sick(struct findings *findings, const json_t *inventory)
{
    struct first_names nodes = {.n = 0};
    size_t i = 0;
    json_t *node = NULL;
    json_array_foreach (json_member(inventory, "nodes"), i, node) {
        const char *name = "";
        const char *state = NULL;
        (void)json_get_string(node, "name", &name, NULL);
        (void)json_get_string(node, "quarantine", &state, NULL);
        if (state || json_member(node, "shapeTraps"))
            first_names_add(&nodes, "%.80s (%.12s)", name, state ? state : "shape trap");
    }
    if (nodes.n == 0)
        findings_add(findings, FINDING_OK, CHECK, "", "no node is in quarantine");
    else
        findings_add(findings, FINDING_WARN, CHECK,
                     "repair the node as GpuExtenderNodesInQuarantine in docs/RUNBOOKS.md says; "
                     "\"kubectl gpu what-if --lift NODE\" says what that would bring",
                     "kubelets reject pods: %s", first_names_text(&nodes));
}

void sick_checks_run(const struct live_checks *checks)
{
    struct api_reply reply CLEANUP(api_reply_fini) = {0};
    if (!checks->settings->aggregated_api)
        return;
    api_server_ask(checks->server, VIEW, NULL, &reply);
    if (reply.object)
        findings_add_sick(checks->findings, reply.object);
    else
        findings_not_checked(checks->findings, CHECK, "see \"kubectl gpu doctor\"", "%s: %s", VIEW,
                             reply.why);
}
