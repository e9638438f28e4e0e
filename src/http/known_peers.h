/*
 * known_peers: recently verified client certificates, as verification takes longer than most
 * answers. A few, for seconds; rejected ones never enter. From any thread.
 */
#ifndef HTTP_KNOWN_PEERS_H
#define HTTP_KNOWN_PEERS_H

#include "base/arena.h"
#include "base/mutex.h"
#include "http/exchange.h"

#include <stdint.h>

#define KNOWN_PEERS_MAX 16

struct known_peer {
    struct arena *arena; /* memory of the members below; NULL: a free entry */
    const void *certificate;
    size_t len;
    const struct exchange_peer *peer;
    int64_t until_ms;
};

struct known_peers {
    struct mutex lock;
    size_t n_added;
    struct known_peer peers[KNOWN_PEERS_MAX];
};

void known_peers_init(struct known_peers *known);
void known_peers_fini(struct known_peers *known);

/* A copy in the arena; NULL: unknown or expired. */
const struct exchange_peer *known_peers_find(struct known_peers *known, const void *certificate,
                                             size_t len, int64_t now_ms, struct arena *arena);
/* Copies. Replaces the oldest if full. */
void known_peers_add(struct known_peers *known, const void *certificate, size_t len,
                     const struct exchange_peer *peer, int64_t until_ms);

#endif
