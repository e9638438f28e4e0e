/*
 * client: the other end of the wire, by plain blocking sockets, so that a test decides every byte.
 * Whatever cannot be done, or does not come within a generous time, fails the test.
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

/* An IPv4 "ADDRESS:PORT", or "[::1]:PORT"; the socket is closed with close(). */
int client_open(const char *address);
void client_send(int fd, const char *text);
void client_send_bytes(int fd, const void *bytes, size_t len);
/* Sends what it can; false when the server has closed. */
bool client_try_send(int fd, const void *bytes, size_t len);
/* Closes with a reset instead of an orderly end. */
void client_reset(int fd);

/* One answer, which must have a Content-Length (a 100 Continue has none, and no body). */
void client_read(int fd, struct reply *ret_reply);
/* The same for the answer to HEAD: no body follows. */
void client_read_head(int fd, struct reply *ret_reply);
/* So many bytes of the body of client_read_head's answer; all of them must be this one. */
void client_expect_all(int fd, char byte, size_t len);
/* Nothing more comes: the server has closed. */
bool client_at_end(int fd);
/* Reads and forgets whatever comes until the server closes, in order or not. */
bool client_drained(int fd);
/* Sends and reads one answer. */
void client_ask(int fd, const char *text, struct reply *ret_reply);

/* The header's value up to the end of its line, compared. */
bool reply_has(const struct reply *reply, const char *header, const char *value);

#endif
