/* address: see transport.h. */
#include "base/buf.h"
#include "base/mem.h"
#include "transport.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A burst of bindings opens many connections at once; the kernel may reduce this. */
#define LISTEN_BACKLOG 1024

static int parse_port(const char *text, in_port_t *ret_port, struct err *err)
{
    size_t n_digits = strspn(text, "0123456789");
    unsigned long port = n_digits > 0 && n_digits <= 5 ? strtoul(text, NULL, 10) : 65536;
    if (text[n_digits] != '\0' || port > 65535)
        return err_set(err, EINVAL, "the port must be 0-65535");
    *ret_port = htons((in_port_t)port);
    return 0;
}

static int parse_host(const char *host, in_port_t port, struct address *ret_address,
                      struct err *err)
{
    struct address address = {0};
    struct sockaddr_in *in = (struct sockaddr_in *)&address.storage;
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&address.storage;
    size_t len = strlen(host);
    if (len > 2 && host[0] == '[' && host[len - 1] == ']') {
        char *inner CLEANUP(mem_free_ptr) = mem_strndup(host + 1, len - 2);
        if (inet_pton(AF_INET6, inner, &in6->sin6_addr) != 1)
            return err_set(err, EINVAL, "%s is not an IPv6 address", inner);
        in6->sin6_family = AF_INET6;
        in6->sin6_port = port;
        address.len = sizeof *in6;
    } else if (strchr(host, ':')) {
        return err_set(err, EINVAL, "an IPv6 address is written [ADDRESS]:PORT");
    } else {
        if (inet_pton(AF_INET, host, &in->sin_addr) != 1)
            return err_set(err, EINVAL, "\"%s\" is not an IPv4 address (names are not looked up)",
                           host);
        in->sin_family = AF_INET;
        in->sin_port = port;
        address.len = sizeof *in;
    }
    *ret_address = address;
    return 0;
}

int address_parse(const char *text, struct address *ret_address, struct err *err)
{
    const char *colon = strrchr(text, ':');
    in_port_t port = 0;
    int r =
        colon ? parse_port(colon + 1, &port, err) : err_set(err, EINVAL, "it must be ADDRESS:PORT");
    if (r == 0) {
        char *host CLEANUP(mem_free_ptr) = mem_strndup(text, (size_t)(colon - text));
        r = parse_host(host, port, ret_address, err);
    }
    if (r < 0)
        err_prefix(err, "listen on %s: ", text);
    return r;
}

bool address_equal(const struct address *a, const struct address *b)
{
    return a->len == b->len && memcmp(&a->storage, &b->storage, a->len) == 0;
}

bool address_is_loopback(const struct address *address)
{
    const struct sockaddr_in *in = (const struct sockaddr_in *)&address->storage;
    const struct in6_addr *in6 = &((const struct sockaddr_in6 *)&address->storage)->sin6_addr;
    if (address->storage.ss_family == AF_INET)
        return ntohl(in->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    return IN6_IS_ADDR_LOOPBACK(in6) ||
           (IN6_IS_ADDR_V4MAPPED(in6) && in6->s6_addr[12] == IN_LOOPBACKNET);
}

static uint64_t number_of(const uint8_t *bytes, size_t n)
{
    uint64_t number = 0;
    for (size_t i = 0; i < n; i++)
        number = number << 8 | bytes[i];
    return number;
}

uint64_t address_network(const struct sockaddr *address)
{
    const struct in6_addr *in6 = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
    if (address->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr);
    if (address->sa_family != AF_INET6)
        return 0;
    return IN6_IS_ADDR_V4MAPPED(in6) ? number_of(in6->s6_addr + 12, 4) : number_of(in6->s6_addr, 8);
}

static int open_socket(const struct address *address)
{
    const int yes = 1;
    const int no = 0;
    int fd = socket(address->storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (address->storage.ss_family == AF_INET6)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    if (bind(fd, (const struct sockaddr *)&address->storage, address->len) == 0 &&
        listen(fd, LISTEN_BACKLOG) == 0)
        return fd;
    int code = errno;
    (void)close(fd);
    return -code;
}

int address_listen(const struct address *address, const char *text, int *ret_fd, struct err *err)
{
    int fd = open_socket(address);
    if (fd < 0)
        return err_set(err, -fd, "listen on %s: %s", text, strerror(-fd));
    *ret_fd = fd;
    return 0;
}

char *address_of_socket(int fd)
{
    struct sockaddr_in6 storage = {0}; /* the larger of the two address types */
    struct sockaddr_in in = {0};
    socklen_t len = sizeof storage;
    (void)getsockname(fd, (struct sockaddr *)&storage, &len);
    char host[INET6_ADDRSTRLEN] = "";
    struct buf text;
    buf_init(&text, INET6_ADDRSTRLEN + sizeof "[]:65535");
    if (storage.sin6_family == AF_INET6) {
        (void)inet_ntop(AF_INET6, &storage.sin6_addr, host, sizeof host);
        buf_printf(&text, "[%s]:%u", host, ntohs(storage.sin6_port));
    } else {
        memcpy(&in, &storage, sizeof in);
        (void)inet_ntop(AF_INET, &in.sin_addr, host, sizeof host);
        buf_printf(&text, "%s:%u", host, ntohs(in.sin_port));
    }
    return buf_take(&text);
}
