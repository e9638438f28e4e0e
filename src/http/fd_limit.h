/*
 * fd_limit: file descriptors for the permitted connections. Private to http.
 *
 * Without a free descriptor, every thread of libmicrohttpd retries accept in a busy loop. So excess
 * connections must stay in the backlog.
 */
#ifndef HTTP_FD_LIMIT_H
#define HTTP_FD_LIMIT_H

#include "base/err.h"

/* Raises the process's soft limit (RLIMIT_NOFILE) as needed and permitted, for the connections and
 * `others`, all other files that may be open. Returns the possible number of connections: `wanted`,
 * or fewer, which is logged. -EMFILE: too few; do not start. */
int fd_limit_for(unsigned wanted, unsigned others, unsigned *ret_connections, struct err *err);

#endif
