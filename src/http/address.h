/*
 * address: "127.0.0.1:8888", "[::1]:8888" and their listening sockets. Resolves no names.
 */
#ifndef HTTP_ADDRESS_H
#define HTTP_ADDRESS_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct address {
    struct sockaddr_storage storage;
    socklen_t len;
};

/* -EINVAL with "listen on TEXT: what is wrong". */
int address_parse(const char *text, struct address *ret_address, struct err *err);
bool address_equal(const struct address *a, const struct address *b);
bool address_is_loopback(const struct address *address);

/* Opens a listening socket, which the caller owns; or returns a negative errno with "listen on
 * TEXT: ...". [::] also accepts IPv4. */
int address_listen(const struct address *address, const char *text, int *ret_fd, struct err *err);
/* The IPv4 address, or the first 64 bits of the IPv6 address. An IPv4 address in an IPv6 address is
 * the former. 0: another family. */
uint64_t address_network(const struct sockaddr *address);

/* The actual address of a listening socket. The caller frees it. */
char *address_of_socket(int fd);

#endif
