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

static bool is_header(const struct exchange *exchange, const char *name, const char *value)
{
    const char *given = exchange_header(exchange, name);
    return given && strcmp(given, value) == 0;
}

/* Browsers send these headers to loopback addresses, and pages cannot change them. A link from
 * another site opens a document that this site cannot read. Source: W3C, Fetch Metadata Request
 * Headers. */
static bool is_of_other_site(const struct exchange *exchange)
{
    const bool is_link = strcmp(exchange->method, "GET") == 0 &&
                         is_header(exchange, "Sec-Fetch-Mode", "navigate") &&
                         is_header(exchange, "Sec-Fetch-Dest", "document");
    return exchange_header(exchange, "Sec-Fetch-Site") && !is_link &&
           !is_header(exchange, "Sec-Fetch-Site", "same-origin") &&
           !is_header(exchange, "Sec-Fetch-Site", "none");
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
    if (is_of_other_site(exchange))
        return "web pages of other sites may not send requests: the Sec-Fetch-Site is neither "
               "same-origin nor none";
    if (exchange->is_loopback && host && !is_local(host, exchange->arena))
        return "on a loopback address without TLS the Host must be an IP address or localhost";
    return NULL;
}
