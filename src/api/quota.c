/* quota: GET /v1/quota. See include/api/api.h. */
#include "api/api.h"
#include "basis.h"
#include "fork_reply.h"
#include "json_text.h"
#include "quota_json.h"
#include "table.h"

/* How many of the namespaces that are there each quota covers. */
static const size_t *count_namespaces(const struct cluster *fork, struct arena *arena)
{
    size_t *counts = ARENA_ARRAY(arena, size_t, cluster_policy(fork)->n_quotas);
    for (const struct namespace *namespace_ = cluster_next_namespace(fork, NULL); namespace_;
         namespace_ = cluster_next_namespace(fork, namespace_)) {
        const size_t *quotas = NULL;
        const size_t n = quota_find(fork, namespace_->name, arena, &quotas);
        for (size_t i = 0; i < n; i++)
            counts[quotas[i]]++;
    }
    return counts;
}

static void tell(const struct cluster *fork, struct arena *arena, json_t *answer)
{
    const struct policy *policy = cluster_policy(fork);
    const size_t *counts = count_namespaces(fork, arena);
    json_t *quotas = json_array();
    for (size_t i = 0; i < policy->n_quotas; i++)
        (void)json_array_append_new(quotas,
                                    json_pack("{s:s, s:I, s:o}", "name", policy->quotas[i].name,
                                              "namespaces", (json_int_t)counts[i], "limits",
                                              quota_limits_json(fork, &policy->quotas[i])));
    (void)json_object_set_new(answer, "quotas", quotas);
}

static const char *text_or(const char *text, const char *otherwise)
{
    return text[0] ? text : otherwise;
}

static void add_rows(const json_t *quota, struct table *table, struct arena *arena)
{
    size_t i = 0;
    json_t *limit = NULL;
    json_array_foreach (json_object_get(quota, "limits"), i, limit)
        table_add(table, (const char *[]){json_text_of(quota, "name"),
                                          text_or(json_text_of(limit, "resource"), "(all)"),
                                          text_or(json_text_of(limit, "model"), "(all)"),
                                          json_number_text(limit, "used", arena),
                                          json_number_text(limit, "limit", arena),
                                          json_number_text(quota, "namespaces", arena)});
}

static void write_table(const json_t *answer, struct arena *arena, struct buf *out)
{
    static const char *const HEADINGS[] = {"QUOTA", "RESOURCE",   "MODEL", "USED",
                                           "LIMIT", "NAMESPACES", NULL};
    struct table *table = table_new(arena, HEADINGS);
    size_t i = 0;
    json_t *quota = NULL;
    basis_write_warning(answer, arena, out);
    json_array_foreach (json_object_get(answer, "quotas"), i, quota)
        add_rows(quota, table, arena);
    if (i == 0)
        (void)buf_add_text(out, "no quotas: the policy file has none\n");
    else
        table_write(table, out);
}

void api_quota(void *context, struct exchange *exchange)
{
    static const struct fork_telling TELLING = {tell, write_table};
    const struct api *api = context;
    fork_reply(api->inventory, exchange, &TELLING);
}
