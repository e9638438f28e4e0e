/* source_file: answers over a saved cluster, by the service's own handlers in this process. */
#include "source.h"

#include <stdlib.h>

int source_file_open(struct source_file *file, const struct arguments *arguments, struct err *err)
{
    struct settings *settings = &file->settings;
    *file = (struct source_file){.inventory = NULL};
    settings_init(settings);
    if (arguments->policy && settings_read_file(settings, arguments->policy, err) < 0)
        return -EINVAL;
    const struct inventory_limits limits = {.max_file_bytes = settings->limits.file_bytes,
                                            .max_object_bytes = settings->limits.object_bytes,
                                            .max_object_values = settings->policy.object_values,
                                            .max_nodes = settings->limits.nodes,
                                            .max_pods = settings->limits.pods,
                                            .needs_nodes = true};
    file->inventory = inventory_new(&settings->policy, &limits);
    file->api = (struct api){.inventory = file->inventory,
                             .max_object_bytes = settings->limits.object_bytes,
                             .max_object_values = settings->policy.object_values,
                             .request_budget = settings_request_budget(&settings->limits),
                             .max_replicas = settings->limits.replicas,
                             .policy = settings_policy_text,
                             .policy_context = settings,
                             .read_policy = settings_read_policy};
    return inventory_load_file(file->inventory, arguments->cluster_file, err) < 0 ? -EINVAL : 0;
}

void source_file_close(struct source_file *file)
{
    if (file->inventory)
        inventory_free(file->inventory);
    settings_fini(&file->settings);
}

static void answer(struct api *api, const struct question *question, struct reply *ret_reply)
{
    struct route routes[API_N_ROUTES + 1] = {0};
    struct local_answer said;
    struct buf path;
    api_routes(api, NULL, routes);
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
    struct source_file file;
    const int r = source_file_open(&file, arguments, err);
    if (r == 0)
        answer(&file.api, question, ret_reply);
    source_file_close(&file);
    return r;
}
