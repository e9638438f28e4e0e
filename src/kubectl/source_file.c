/* source_file: answers over a saved cluster, by the service's own handlers in this process. */
#include "api/api.h"
#include "config/settings.h"
#include "source.h"

#include <stdlib.h>

static char *policy_in_force(void *settings, struct arena *arena)
{
    struct buf text;
    buf_init(&text, BUF_UNBOUNDED); /* settings are bounded */
    buf_add_text(&text, "{\"values\":");
    settings_json(settings, &text);
    buf_add_text(&text, "}");
    char *copy = arena_strndup(arena, buf_text(&text), text.len);
    buf_fini(&text);
    return copy;
}

static void answer(struct inventory *inventory, struct settings *settings,
                   const struct question *question, struct reply *ret_reply)
{
    struct api api = {.inventory = inventory,
                      .max_object_bytes = settings->limits.object_bytes,
                      .max_replicas = settings->limits.replicas,
                      .policy = policy_in_force,
                      .policy_context = settings,
                      .read_policy = settings_read_policy};
    struct route routes[API_N_ROUTES + 1] = {0};
    struct local_answer said;
    struct buf path;
    api_routes(&api, NULL, routes);
    buf_init(&path, BUF_UNBOUNDED); /* a view's name */
    buf_printf(&path, "/v1/%s", question->view);
    const struct local_request request = {question->body ? "POST" : "GET", buf_text(&path),
                                          question->query, question->body, question->len};
    local_ask(routes, &request, &said);
    buf_fini(&path);
    ret_reply->status = said.status;
    buf_add(&ret_reply->text, said.body, said.len);
    free(said.body);
}

int source_ask_file(const struct arguments *arguments, const struct question *question,
                    struct reply *ret_reply, struct err *err)
{
    struct settings settings CLEANUP(settings_fini);
    settings_init(&settings);
    int r = arguments->policy ? settings_read_file(&settings, arguments->policy, err) : 0;
    if (r < 0)
        return -EINVAL;
    const struct inventory_limits limits = {.max_file_bytes = settings.limits.file_bytes,
                                            .max_object_bytes = settings.limits.object_bytes,
                                            .max_nodes = settings.limits.nodes,
                                            .max_pods = settings.limits.pods};
    struct inventory *inventory = inventory_new(&settings.policy, &limits);
    r = inventory_load_file(inventory, arguments->cluster_file, err);
    if (r == 0)
        answer(inventory, &settings, question, ret_reply);
    inventory_free(inventory);
    return r < 0 ? -EINVAL : 0;
}
