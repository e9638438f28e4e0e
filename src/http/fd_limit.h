/*
 * fd_limit: file descriptors for as many connections as are allowed. Private to http.
 *
 * Without one left, libmicrohttpd tries to accept again and again, in every thread: better to leave
 * connections waiting in the backlog.
 */
#ifndef HTTP_FD_LIMIT_H
#define HTTP_FD_LIMIT_H

#include "base/err.h"

/* Raises the process's own limit (RLIMIT_NOFILE) as far as it may and must, for so many connections
 * and `others`, all other files that may be open. How many connections there is room for: `wanted`,
 * or fewer, which is logged. -EMFILE: hardly any; nothing should be started then. */
int fd_limit_for(unsigned wanted, unsigned others, unsigned *ret_connections, struct err *err);

#endif
