/* url_check: see config_priv.h. Source: RFC 3986, section 3. */
#include "config_priv.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"
#define PORT_MAX 65535

static bool is_port(const char *text, size_t len)
{
    return len > 0 && len <= 5 && strspn(text, DIGITS) >= len && strtol(text, NULL, 10) > 0 &&
           strtol(text, NULL, 10) <= PORT_MAX;
}

static bool is_v6_address(const char *text, size_t len)
{
    char address[INET6_ADDRSTRLEN] = "";
    struct in6_addr unused;
    if (len >= sizeof address)
        return false;
    memcpy(address, text, len);
    return inet_pton(AF_INET6, address, &unused) == 1;
}

/* "[::1]:6443", "api.example.com" */
static bool is_host_and_port(const char *text, size_t len)
{
    bool has_brackets = text[0] == '[';
    const char *start = has_brackets ? text + 1 : text;
    size_t n = strspn(start, has_brackets ? DIGITS "abcdefABCDEF:." : LETTERS DIGITS "-_.");
    const char *end = start + n;
    if (n == 0 || (has_brackets && *end++ != ']') || end > text + len)
        return false;
    if (has_brackets && !is_v6_address(start, n))
        return false;
    size_t rest = (size_t)(text + len - end);
    return rest == 0 || (*end == ':' && is_port(end + 1, rest - 1));
}

static bool is_printable(const char *text)
{
    for (; *text; text++) {
        if (*text <= ' ' || *text > '~')
            return false;
    }
    return true;
}

/* "%0a": libcurl ignores a proxy whose password has one. */
static bool has_escaped_control(const char *text)
{
    for (const char *at = text; (at = strchr(at, '%')) != NULL; at++) {
        if (at[1] == '0' || at[1] == '1')
            return true;
    }
    return false;
}

/* Returns what follows the scheme; NULL: another scheme. */
static const char *after_scheme(const char *text, const char *scheme)
{
    size_t len = strlen(scheme);
    if (strncmp(text, scheme, len) != 0 || strncmp(text + len, "://", 3) != 0)
        return NULL;
    return text + len + 3;
}

const char *url_check_server(const char *text)
{
    const char *host = after_scheme(text, "https");
    if (!host)
        host = after_scheme(text, "http");
    if (host && is_printable(host) && !strpbrk(host, "?#@") &&
        is_host_and_port(host, strcspn(host, "/")))
        return NULL;
    return "an address such as https://10.0.0.1:6443";
}

const char *url_check_proxy(const char *text)
{
    static const char *const SCHEMES[] = {"http", "https", "socks5"};
    for (size_t i = 0; i < sizeof SCHEMES / sizeof *SCHEMES; i++) {
        const char *authority = after_scheme(text, SCHEMES[i]);
        if (!authority || !is_printable(authority) || has_escaped_control(authority))
            continue;
        size_t len = strcspn(authority, "/?#");
        const char *at = memrchr(authority, '@', len);
        const char *host = at ? at + 1 : authority;
        if (is_host_and_port(host, (size_t)(authority + len - host)))
            return NULL;
    }
    return "the address of an http, https or socks5 proxy, such as http://10.0.0.1:3128";
}

const char *url_check_host(const char *text)
{
    size_t len = strlen(text);
    if (len > 0 && strspn(text, LETTERS DIGITS "-_.:") == len)
        return NULL;
    return "the name in the server's certificate, such as kubernetes.default.svc";
}
