/* scheduler_url: see scheduler_checks.h. */
#include "scheduler_checks.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PORT_MAX 65535
#define VERBS_PATH "/scheduler"

static const char *after_scheme(const char *text, bool *ret_https)
{
    *ret_https = strncmp(text, "https://", 8) == 0;
    if (*ret_https)
        return text + 8;
    return strncmp(text, "http://", 7) == 0 ? text + 7 : NULL;
}

static bool parse_port(const char *text, size_t len, long *ret_port)
{
    char digits[8];
    if (len == 0 || len >= sizeof digits || strspn(text, "0123456789") < len)
        return false;
    memcpy(digits, text, len);
    digits[len] = '\0';
    *ret_port = strtol(digits, NULL, 10);
    return *ret_port <= PORT_MAX;
}

/* HOST, HOST:PORT or [IPV6]:PORT in len bytes. */
static bool parse_authority(const char *text, size_t len, struct scheduler_url *url)
{
    const bool has_brackets = len > 0 && text[0] == '[';
    const char *end = has_brackets ? memchr(text, ']', len) : text + strcspn(text, ":/");
    if (!end || end > text + len)
        return false;
    const char *host = text + has_brackets;
    const size_t host_len = (size_t)(end - host);
    if (host_len == 0 || host_len >= sizeof url->host)
        return false;
    memcpy(url->host, host, host_len);
    url->host[host_len] = '\0';
    const char *rest = end + has_brackets;
    const size_t rest_len = len - (size_t)(rest - text);
    return rest_len == 0 || (rest[0] == ':' && parse_port(rest + 1, rest_len - 1, &url->port));
}

bool scheduler_url_parse(const char *text, struct scheduler_url *ret_url)
{
    struct scheduler_url url = {.port = 0};
    const char *authority = after_scheme(text, &url.https);
    if (!authority || strpbrk(text, "@?#"))
        return false;
    const size_t len = strcspn(authority, "/");
    url.port = url.https ? 443 : 80;
    url.path = authority + len;
    if (!parse_authority(authority, len, &url))
        return false;
    *ret_url = url;
    return true;
}

bool scheduler_url_is_ours(const struct scheduler_url *url)
{
    size_t len = strlen(url->path);
    const size_t want = strlen(VERBS_PATH);
    while (len > 0 && url->path[len - 1] == '/')
        len--;
    return len >= want && strncmp(url->path + len - want, VERBS_PATH, want) == 0;
}

bool scheduler_host_is_local(const char *host)
{
    return strcmp(host, "localhost") == 0 || strncmp(host, "127.", 4) == 0 ||
           strcmp(host, "::1") == 0;
}

void scheduler_address_split(const char *address, char ret_host[SCHEDULER_HOST_MAX], long *ret_port)
{
    const char *colon = strrchr(address, ':');
    const size_t has_brackets = address[0] == '[';
    const size_t len = colon ? (size_t)(colon - address) : strlen(address);
    (void)snprintf(ret_host, SCHEDULER_HOST_MAX, "%.*s", (int)(len - 2 * has_brackets),
                   address + has_brackets);
    *ret_port = colon ? strtol(colon + 1, NULL, 10) : 0;
}
