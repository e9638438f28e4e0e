/*
 * fd_limit: file descriptors for as many connections as are allowed. Private to http.
 *
 * Without one left, libmicrohttpd tries to accept again and again, in every thread: better to leave
 * connections waiting in the backlog.
 */
#ifndef HTTP_FD_LIMIT_H
#define HTTP_FD_LIMIT_H

/* Raises the process's own limit as far as it may and must. How many connections there is room for:
 * `wanted`, or fewer (which is logged), at least 1. */
unsigned fd_limit_for(unsigned wanted);

#endif
