/*
 * server_version: asks the API server for its version, as rules of the dry run depend on it. Again
 * now and then: a cluster is upgraded while this program runs. Private to inventory.
 */
#ifndef INVENTORY_LIVE_SERVER_VERSION_H
#define INVENTORY_LIVE_SERVER_VERSION_H

#include "kube/request.h"

#include <stdbool.h>
#include <stdint.h>

struct server_version {
    struct kube_sender sender;
    bool is_asked;   /* the answer is not here yet */
    int64_t next_ms; /* when to ask next */
};

#endif
