/* client: see client.h. */
#include "client.h"
#include "unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

int client_open(const char *address)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};
    const struct timeval patience = {.tv_sec = 600};
    const char *port = strrchr(address, ':') + 1;
    in.sin_port = in6.sin6_port = htons((in_port_t)strtoul(port, NULL, 10));
    bool is_v6 = address[0] == '[';
    char host[64];
    (void)snprintf(host, sizeof host, "%.*s", (int)(port - 1 - address), address);
    assert_true(is_v6 || inet_pton(AF_INET, host, &in.sin_addr) == 1);
    int fd = socket(is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
    int r = is_v6 ? connect(fd, (const struct sockaddr *)&in6, sizeof in6)
                  : connect(fd, (const struct sockaddr *)&in, sizeof in);
    assert_int_equal(r, 0);
    return fd;
}

bool client_try_send(int fd, const void *bytes, size_t len)
{
    const char *from = bytes;
    while (len > 0) {
        ssize_t n = send(fd, from, len, MSG_NOSIGNAL);
        if (n < 0)
            return false;
        from += n;
        len -= (size_t)n;
    }
    return true;
}

void client_send_bytes(int fd, const void *bytes, size_t len)
{
    assert_true(client_try_send(fd, bytes, len));
}

void client_send(int fd, const char *text)
{
    client_send_bytes(fd, text, strlen(text));
}

void client_reset(int fd)
{
    const struct linger none = {.l_onoff = 1, .l_linger = 0};
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none), 0);
    (void)close(fd);
}

static void read_bytes(int fd, char *to, size_t len)
{
    while (len > 0) {
        ssize_t n = recv(fd, to, len, 0);
        if (n <= 0)
            fail_msg("the server closed, or said nothing, %zu bytes too early (%s)", len,
                     n < 0 ? strerror(errno) : "end");
        to += n;
        len -= (size_t)n;
    }
}

void client_read_head(int fd, struct reply *ret_reply)
{
    size_t len = 0;
    *ret_reply = (struct reply){0};
    while (len < 4 || strcmp(ret_reply->head + len - 4, "\r\n\r\n") != 0) {
        assert_true(len < sizeof ret_reply->head - 1);
        read_bytes(fd, ret_reply->head + len, 1);
        len++;
    }
    assert_memory_equal(ret_reply->head, "HTTP/1.1 ", 9);
    ret_reply->status = (unsigned)strtoul(ret_reply->head + 9, NULL, 10);
}

static const char *find_header(const struct reply *reply, const char *name)
{
    const char *line = strstr(reply->head, "\r\n");
    for (; line; line = strstr(line + 2, "\r\n")) {
        if (strncasecmp(line + 2, name, strlen(name)) == 0 && line[2 + strlen(name)] == ':')
            return line + 2 + strlen(name) + 2;
    }
    return NULL;
}

void client_read(int fd, struct reply *ret_reply)
{
    client_read_head(fd, ret_reply);
    if (ret_reply->status == 100)
        return;
    const char *length = find_header(ret_reply, "Content-Length");
    assert_non_null(length);
    assert_null(find_header(ret_reply, "Transfer-Encoding"));
    ret_reply->len = strtoul(length, NULL, 10);
    assert_true(ret_reply->len < sizeof ret_reply->body);
    read_bytes(fd, ret_reply->body, ret_reply->len);
}

void client_expect_all(int fd, char byte, size_t len)
{
    char bytes[4096];
    while (len > 0) {
        size_t piece = len < sizeof bytes ? len : sizeof bytes;
        read_bytes(fd, bytes, piece);
        for (size_t i = 0; i < piece; i++)
            assert_int_equal(bytes[i], byte);
        len -= piece;
    }
}

bool client_at_end(int fd)
{
    char byte = 0;
    return recv(fd, &byte, 1, 0) == 0;
}

bool client_drained(int fd)
{
    char bytes[4096];
    ssize_t n = 0;
    do
        n = recv(fd, bytes, sizeof bytes, 0);
    while (n > 0);
    return n == 0 || errno == ECONNRESET;
}

void client_ask(int fd, const char *text, struct reply *ret_reply)
{
    client_send(fd, text);
    client_read(fd, ret_reply);
}

bool reply_has(const struct reply *reply, const char *header, const char *value)
{
    const char *found = find_header(reply, header);
    return found && strncmp(found, value, strlen(value)) == 0 &&
           strncmp(found + strlen(value), "\r\n", 2) == 0;
}
