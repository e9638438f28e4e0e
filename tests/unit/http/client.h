/*
 * client: a client of plain blocking sockets, so that a test controls every byte. A fault, or
 * anything late by a generous limit, fails the test.
 */
#ifndef CLIENT_H
#define CLIENT_H

#include <stdbool.h>
#include <stddef.h>

struct reply {
    unsigned status;
    char head[4096];
    char body[65536];
    size_t len;
};

/* address: IPv4 "ADDRESS:PORT", or "[::1]:PORT". Close the socket with close(). */
int client_open(const char *address);
void client_send(int fd, const char *text);
void client_send_bytes(int fd, const void *bytes, size_t len);
/* Sends as much as possible; false: the server has closed. */
bool client_try_send(int fd, const void *bytes, size_t len);
/* Closes with a reset. */
void client_reset(int fd);

/* Reads one answer, which must have a Content-Length (100 Continue has none, and no body). */
void client_read(int fd, struct reply *ret_reply);
/* The same for an answer to HEAD, which has no body. */
void client_read_head(int fd, struct reply *ret_reply);
/* Reads len bytes of the body after client_read_head(); all must equal byte. */
void client_expect_all(int fd, char byte, size_t len);
/* Whether the server has closed, with nothing unread. */
bool client_at_end(int fd);
/* Reads and discards until the server closes, orderly or not. */
bool client_drained(int fd);
/* Sends text and reads one answer. */
void client_ask(int fd, const char *text, struct reply *ret_reply);

/* Whether the header has this value, up to the end of its line. */
bool reply_has(const struct reply *reply, const char *header, const char *value);

#endif
