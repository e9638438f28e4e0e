/* version: of this program, and of the service that answers. */
#include "formats/json_values.h"
#include "verbs.h"

static void write_versions(const json_t *versions, bool wide, struct arena *arena, struct buf *out)
{
    const char *service = NULL;
    (void)wide;
    (void)arena;
    (void)json_get_string(versions, "service", &service, NULL);
    buf_printf(out, "kubectl-gpu   %s\n", GPU_EXTENDER_VERSION);
    if (service)
        buf_printf(out, "gpu-extender  %s\n", service);
}

/* A saved cluster has no service. A service that does not answer is a failure, as with kubectl. */
int verbs_version(struct session *session)
{
    struct asked policy = {.status = EXIT_FINE};
    const char *service = NULL;
    if (!session->arguments.cluster_file)
        policy = session_ask(session, "policy", NULL);
    if (policy.value) {
        service = "unknown";
        (void)json_get_string(policy.value, "version", &service, NULL);
    }
    json_t *versions = json_pack("{s:s, s:s?}", "client", GPU_EXTENDER_VERSION, "service", service);
    const int status = print_answer(session, versions, write_versions, NULL, true, policy.status);
    json_decref(versions);
    json_decref(policy.value);
    return policy.message ? session_complain(session, policy.message, status) : status;
}
