/* endpoint: see socket.h. */
#include "socket.h"

#include "base/buf.h"
#include "base/mem.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

/* Pieces of "https://HOST:PORT/prefix"; borrowed. */
struct parts {
    const char *host; /* with brackets, if any */
    size_t host_len;
    const char *port; /* NULL: none */
    size_t port_len;
    const char *prefix; /* "" or "/..." */
};

static bool is_loopback_address(const char *host)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (inet_pton(AF_INET, host, &v4) == 1)
        return (ntohl(v4.s_addr) >> 24) == 127;
    return inet_pton(AF_INET6, host, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

static bool is_loopback(const struct parts *parts)
{
    bool bracketed = parts->host[0] == '[' && parts->host_len >= 2;
    char *host CLEANUP(mem_free_ptr) = bracketed ? mem_strndup(parts->host + 1, parts->host_len - 2)
                                                 : mem_strndup(parts->host, parts->host_len);
    return strcasecmp(host, "localhost") == 0 || is_loopback_address(host);
}

static struct parts split(const char *after_scheme)
{
    size_t authority_len = strcspn(after_scheme, "/");
    size_t host_len = strcspn(after_scheme, after_scheme[0] == '[' ? "]/" : ":/");
    if (after_scheme[host_len] == ']')
        host_len++;
    struct parts parts = {.host = after_scheme, .host_len = host_len};
    if (after_scheme[host_len] == ':') {
        parts.port = after_scheme + host_len + 1;
        parts.port_len = authority_len - host_len - 1;
    }
    parts.prefix = after_scheme + authority_len;
    return parts;
}

/* The URL has the name that the certificate must show; the connection goes to the server. */
static void rename_server(struct endpoint *endpoint, const char *name, const struct parts *parts)
{
    const char *port = parts->port ? parts->port : "";
    int port_len = (int)parts->port_len, host_len = (int)parts->host_len;
    const char *colon = parts->port ? ":" : "";
    bool is_v6 = strchr(name, ':') && name[0] != '[';
    struct buf text;
    buf_init(&text, BUF_UNBOUNDED);
    buf_printf(&text, "https://%s%s%s%s%.*s%s", is_v6 ? "[" : "", name, is_v6 ? "]" : "", colon,
               port_len, port, parts->prefix);
    endpoint->base_url = buf_take(&text);
    buf_printf(&text, "::%.*s:%.*s", host_len, parts->host, port_len, port);
    endpoint->connect_to = buf_take(&text);
    buf_printf(&text, "%.*s%s%.*s", host_len, parts->host, colon, port_len, port);
    endpoint->host = buf_take(&text);
    buf_fini(&text);
}

/* The proxy resolves the server's name: kubectl's socks5 does so, libcurl's only as socks5h. */
static char *proxy_of(const char *proxy_url)
{
    static const char SOCKS5[] = "socks5://";
    struct buf text;
    if (!proxy_url || strncmp(proxy_url, SOCKS5, sizeof SOCKS5 - 1) != 0)
        return proxy_url ? mem_strdup(proxy_url) : NULL;
    buf_init(&text, BUF_UNBOUNDED);
    buf_printf(&text, "socks5h://%s", proxy_url + sizeof SOCKS5 - 1);
    return buf_take(&text);
}

void endpoint_init(struct endpoint *endpoint, const struct kube_target *target)
{
    *endpoint = (struct endpoint){.tls = strncasecmp(target->server, "https://", 8) == 0};
    const char *slashes = strstr(target->server, "://");
    struct parts parts = split(slashes ? slashes + 3 : target->server);
    endpoint->loopback = is_loopback(&parts);
    endpoint->proxy = proxy_of(target->proxy_url);
    if (endpoint->tls && target->tls_server_name)
        rename_server(endpoint, target->tls_server_name, &parts);
    else
        endpoint->base_url = mem_strdup(target->server);
}

void endpoint_fini(struct endpoint *endpoint)
{
    free(endpoint->base_url);
    free(endpoint->connect_to);
    free(endpoint->host);
    free(endpoint->proxy);
}
