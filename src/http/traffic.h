/*
 * traffic: the HTTP service's own metrics. Labels are the names of the route table, "other" for
 * paths that are not in it, a fixed set of status codes, "other" for the rest, and the reasons for
 * which connections are closed.
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

/* route NULL: no such path. From any thread. */
void traffic_add_request(struct traffic *traffic, const struct route *route, unsigned status,
                         uint64_t ns);
void traffic_add_connection(struct traffic *traffic);
/* how: why it was closed. */
void traffic_remove_connection(struct traffic *traffic, enum connection_end how);

void traffic_write(const struct traffic *traffic, struct buf *out);

#endif
