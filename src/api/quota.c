/* quota: GET /v1/quota. See include/api/api.h. */
#include "api/api.h"
#include "basis.h"
#include "fork_reply.h"
#include "json_text.h"
#include "quota_json.h"
#include "table.h"

/* Names of namespaces that are told of one quota; there may be thousands. */
#define NAMES_MAX 100

/* The namespaces that are there and that a quota covers. */
struct covered {
    size_t n;
    size_t n_unenforced; /* NAMESPACE_ENFORCED_LABEL */
    json_t *unenforced;  /* names, NAMES_MAX at the most */
};

static void add_namespace(struct covered *covered, const struct namespace *namespace_)
{
    covered->n++;
    if (namespace_->is_enforced)
        return;
    if (covered->n_unenforced++ < NAMES_MAX)
        (void)json_array_append_new(covered->unenforced, json_string(namespace_->name));
}

/* One a quota, whose names are to be given away. */
static struct covered *find_covered(const struct cluster *fork, struct arena *arena)
{
    const size_t n_quotas = cluster_policy(fork)->n_quotas;
    struct covered *covered = ARENA_ARRAY(arena, struct covered, n_quotas);
    for (size_t i = 0; i < n_quotas; i++)
        covered[i].unenforced = json_array();
    for (const struct namespace *namespace_ = cluster_next_namespace(fork, NULL); namespace_;
         namespace_ = cluster_next_namespace(fork, namespace_)) {
        const size_t *quotas = NULL;
        const size_t n = quota_find(fork, namespace_->name, arena, &quotas);
        for (size_t i = 0; i < n; i++)
            add_namespace(&covered[quotas[i]], namespace_);
    }
    return covered;
}

static void tell(const struct cluster *fork, struct arena *arena, json_t *answer)
{
    const struct policy *policy = cluster_policy(fork);
    const struct covered *covered = find_covered(fork, arena);
    size_t n_nodes[QUOTA_MODELS_MAX];
    json_t *quotas = json_array();
    quota_count_nodes(fork, n_nodes);
    for (size_t i = 0; i < policy->n_quotas; i++) {
        const struct quota *quota = &policy->quotas[i];
        (void)json_array_append_new(
            quotas,
            json_pack("{s:s, s:I, s:I, s:o, s:o}", "name", quota->name, "namespaces",
                      (json_int_t)covered[i].n, "unenforcedNamespaces",
                      (json_int_t)covered[i].n_unenforced, "unenforced", covered[i].unenforced,
                      "limits", quota_limits_json_of_nodes(fork, quota, n_nodes)));
    }
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
                                          json_number_text(limit, "unknown", arena),
                                          json_number_text(limit, "nodes", arena),
                                          json_number_text(quota, "namespaces", arena),
                                          json_number_text(quota, "unenforcedNamespaces", arena)});
}

static void write_table(const json_t *answer, struct arena *arena, struct buf *out)
{
    static const char *const HEADINGS[] = {"QUOTA",      "RESOURCE", "MODEL", "USED",
                                           "LIMIT",      "UNKNOWN",  "NODES", "NAMESPACES",
                                           "UNENFORCED", NULL};
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
