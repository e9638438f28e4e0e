/* quota_users: see quota_users.h. */
#include "api/cluster/quota_users.h"
#include "ledger/namespace_usage.h"

#include <string.h>

struct quota_user {
    const char *name;
    int64_t used;
};

struct limit_users {
    struct quota_user items[QUOTA_USERS_MAX]; /* most first, then by name */
    size_t n;
};

struct quota_users {
    struct limit_users **quotas; /* by quota, then limit */
};

static bool comes_before(const struct quota_user *a, const struct quota_user *b)
{
    return a->used != b->used ? a->used > b->used : strcmp(a->name, b->name) < 0;
}

static void insert(struct limit_users *users, const struct quota_user *user)
{
    size_t at = users->n;
    while (at > 0 && comes_before(user, &users->items[at - 1]))
        at--;
    if (at == QUOTA_USERS_MAX)
        return;
    users->n += users->n < QUOTA_USERS_MAX;
    memmove(&users->items[at + 1], &users->items[at], (users->n - 1 - at) * sizeof *users->items);
    users->items[at] = *user;
}

static void add_user(struct quota_users *users, const struct policy *policy,
                     const struct namespace_user *user)
{
    for (size_t i = 0; i < user->n_quotas; i++) {
        const struct quota *quota = &policy->quotas[user->quotas[i]];
        for (size_t k = 0; k < quota->n_limits; k++) {
            const struct quota_limit *limit = &quota->limits[k];
            const int64_t used = namespace_usage_of(policy, user->cells, limit, QUOTA_ALL);
            if (used > 0)
                insert(&users->quotas[user->quotas[i]][k], &(struct quota_user){user->name, used});
        }
    }
}

static void copy_names(struct quota_users *users, const struct policy *policy, struct arena *arena)
{
    for (size_t i = 0; i < policy->n_quotas; i++) {
        for (size_t k = 0; k < policy->quotas[i].n_limits; k++) {
            struct limit_users *of = &users->quotas[i][k];
            for (size_t j = 0; j < of->n; j++)
                of->items[j].name = arena_strdup(arena, of->items[j].name);
        }
    }
}

struct quota_users *quota_users_copy(struct inventory *inventory, const struct policy *policy,
                                     struct arena *arena)
{
    struct quota_users *users = ARENA_NEW(arena, struct quota_users);
    users->quotas = ARENA_ARRAY(arena, struct limit_users *, policy->n_quotas);
    for (size_t i = 0; i < policy->n_quotas; i++)
        users->quotas[i] = ARENA_ARRAY(arena, struct limit_users, policy->quotas[i].n_limits);
    const struct inventory_view view CLEANUP(inventory_done) = inventory_read(inventory);
    if (cluster_policy(view.cluster) != policy)
        return NULL;
    struct namespace_user user = {0};
    while (namespace_usage_next_user(view.cluster, user.name, &user))
        add_user(users, policy, &user);
    copy_names(users, policy, arena);
    return users;
}

json_t *quota_users_json(const struct quota_users *users, size_t quota, size_t limit)
{
    json_t *list = json_array();
    if (!users)
        return list;
    const struct limit_users *of = &users->quotas[quota][limit];
    for (size_t i = 0; i < of->n; i++)
        (void)json_array_append_new(list, json_pack("{s:s, s:I}", "namespace", of->items[i].name,
                                                    "used", (json_int_t)of->items[i].used));
    return list;
}
