/* known_peers: see known_peers.h. */
#include "known_peers.h"

#include <string.h>

void known_peers_init(struct known_peers *known)
{
    *known = (struct known_peers){0};
    mutex_init(&known->lock);
}

void known_peers_fini(struct known_peers *known)
{
    for (size_t i = 0; i < KNOWN_PEERS_MAX; i++) {
        if (known->peers[i].arena)
            arena_free(known->peers[i].arena);
    }
    mutex_fini(&known->lock);
}

static const struct exchange_peer *copy_peer(const struct exchange_peer *peer, struct arena *arena)
{
    size_t n = 0;
    while (peer->organizations[n])
        n++;
    const char **organizations = arena_array(arena, n + 1, sizeof *organizations);
    for (size_t i = 0; i < n; i++)
        organizations[i] = arena_strdup(arena, peer->organizations[i]);
    struct exchange_peer *copy = ARENA_NEW(arena, struct exchange_peer);
    copy->common_name = arena_strdup(arena, peer->common_name);
    copy->organizations = organizations;
    return copy;
}

static struct known_peer *find(struct known_peers *known, const void *certificate, size_t len)
{
    for (size_t i = 0; i < KNOWN_PEERS_MAX; i++) {
        struct known_peer *peer = &known->peers[i];
        if (peer->arena && peer->len == len && memcmp(peer->certificate, certificate, len) == 0)
            return peer;
    }
    return NULL;
}

const struct exchange_peer *known_peers_find(struct known_peers *known, const void *certificate,
                                             size_t len, int64_t now_ms, struct arena *arena)
{
    const struct exchange_peer *copy = NULL;
    mutex_lock(&known->lock);
    const struct known_peer *found = find(known, certificate, len);
    if (found && now_ms < found->until_ms)
        copy = copy_peer(found->peer, arena);
    mutex_unlock(&known->lock);
    return copy;
}

void known_peers_add(struct known_peers *known, const void *certificate, size_t len,
                     const struct exchange_peer *peer, int64_t until_ms)
{
    struct known_peer made = {.arena = arena_new(), .len = len, .until_ms = until_ms};
    made.certificate = arena_copy(made.arena, certificate, len, 1);
    made.peer = copy_peer(peer, made.arena);
    mutex_lock(&known->lock);
    struct known_peer *place = find(known, certificate, len);
    if (!place)
        place = &known->peers[known->n_added++ % KNOWN_PEERS_MAX];
    struct arena *old = place->arena;
    *place = made;
    mutex_unlock(&known->lock);
    if (old)
        arena_free(old);
}
