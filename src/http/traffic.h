/*
 * traffic: metrics of the HTTP service. Labels are the names of the route table ("other" for
 * unknown paths), a fixed set of status codes ("other" for the rest), and the causes of closed
 * connections.
 */
#ifndef HTTP_TRAFFIC_H
#define HTTP_TRAFFIC_H

#include "base/buf.h"
#include "connection_table.h"
#include "http/server.h"

#include <stdint.h>

struct traffic;

struct traffic *traffic_new(const struct route *routes);
void traffic_free(struct traffic *traffic);

/* route NULL: unknown path. All from any thread. */
void traffic_add_request(struct traffic *traffic, const struct route *route, unsigned status,
                         uint64_t ns);
void traffic_add_connection(struct traffic *traffic);
/* how: the cause. */
void traffic_remove_connection(struct traffic *traffic, enum connection_end how);

void traffic_write(const struct traffic *traffic, struct buf *out);

#endif
