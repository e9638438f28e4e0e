/* foreign: see foreign.h. */
#include "foreign.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#define LOCALHOST "localhost"
#define SCHEME "http://"

static bool is_ip_address(const char *name)
{
    struct in6_addr address;
    return inet_pton(AF_INET, name, &address) == 1 || inet_pton(AF_INET6, name, &address) == 1;
}

static bool is_localhost(const char *name, size_t len)
{
    const size_t suffix = strlen(LOCALHOST);
    return len >= suffix && strcasecmp(name + len - suffix, LOCALHOST) == 0 &&
           (len == suffix || name[len - suffix - 1] == '.');
}

/* host: "NAME", "NAME:PORT", "[IPV6]" or "[IPV6]:PORT". */
static bool is_local(const char *host, struct arena *arena)
{
    const bool is_bracketed = host[0] == '[';
    const char *name = host + is_bracketed;
    const size_t len = strcspn(name, is_bracketed ? "]" : ":");
    const char *copy = arena_strndup(arena, name, len);
    const char *rest = name + len + (is_bracketed && name[len]);
    return (*rest == '\0' || *rest == ':') && (is_ip_address(copy) || is_localhost(copy, len));
}

static bool is_own(const char *origin, const char *host)
{
    const size_t len = strlen(SCHEME);
    return host && strncmp(origin, SCHEME, len) == 0 && strcasecmp(origin + len, host) == 0;
}

const char *foreign_fault(const struct exchange *exchange)
{
    const char *origin = exchange_header(exchange, "Origin");
    const char *host = exchange_header(exchange, "Host");
    if (origin && exchange->route->listeners & LISTEN_VERBS)
        return "a web page may not call kube-scheduler's paths: the request has an Origin";
    if (exchange->has_tls)
        return NULL;
    if (origin && !is_own(origin, host))
        return "web pages of other sites may not send requests: the Origin is not this service's";
    if (exchange->is_loopback && host && !is_local(host, exchange->arena))
        return "on a loopback address without TLS the Host must be an IP address or localhost";
    return NULL;
}
