/* syntax: see syntax.h. Source of the rules for names: Kubernetes documentation, "Labels and
 * Selectors", and k8s.io/apimachinery/pkg/util/validation (IsQualifiedName, IsDNS1123Subdomain). */
#include "config/syntax.h"

#include "base/dns_name.h"
#include "types/gpu_model.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_LEN_MAX 63
#define ATTRIBUTE_LEN_MAX 32 /* DeviceMaxIDLength in k8s.io/api/resource */
#define PORT_MAX 65535
#define LABEL_PATTERN_MAX 320

static bool is_port(const char *text)
{
    size_t len = strlen(text);
    if (len == 0 || len > 5 || strspn(text, "0123456789") != len)
        return false;
    if (text[0] == '0' && len > 1)
        return false;
    return strtol(text, NULL, 10) <= PORT_MAX;
}

static bool is_ip(const char *text, size_t len)
{
    unsigned char address[sizeof(struct in6_addr)];
    char host[INET6_ADDRSTRLEN + 2];
    if (len == 0 || len >= sizeof host)
        return false;
    memcpy(host, text, len);
    host[len] = '\0';
    if (host[0] != '[')
        return inet_pton(AF_INET, host, address) == 1;
    if (host[len - 1] != ']')
        return false;
    host[len - 1] = '\0';
    return inet_pton(AF_INET6, host + 1, address) == 1;
}

const char *syntax_address(const char *text)
{
    const char *colon = strrchr(text, ':');
    if (colon && is_ip(text, (size_t)(colon - text)) && is_port(colon + 1))
        return NULL;
    return "ADDR:PORT with an IP address, such as \"127.0.0.1:8888\" or \"[::1]:8888\"";
}

static bool is_alnum(char c)
{
    return isascii(c) && isalnum((unsigned char)c);
}

const char *syntax_domain_wish(const char *text)
{
    const bool is_rule = strncmp(text, "require ", 8) == 0 || strncmp(text, "prefer ", 7) == 0;
    return !*text || is_rule ? NULL : "\"require LEVEL\", \"prefer LEVEL\" or \"\"";
}

const char *syntax_path(const char *text)
{
    (void)text;
    return NULL;
}

/* Letters, digits, '-', '_' and '.'. */
static bool has_name_chars_only(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (!is_alnum(text[i]) && !strchr("-_.", text[i]))
            return false;
    }
    return true;
}

static bool is_name(const char *text, size_t len)
{
    return len > 0 && len <= NAME_LEN_MAX && is_alnum(text[0]) && is_alnum(text[len - 1]) &&
           has_name_chars_only(text, len);
}

/* The part before a final '*': a name that may be empty or end in a separator. */
static bool is_name_prefix(const char *text, size_t len)
{
    return len == 0 || (len < NAME_LEN_MAX && is_alnum(text[0]) && has_name_chars_only(text, len));
}

const char *syntax_resource(const char *text)
{
    const char *slash = strchr(text, '/');
    const char *name = slash ? slash + 1 : text;
    size_t len = strlen(name);
    bool is_prefix = len > 0 && name[len - 1] == '*';
    bool name_is_right = is_prefix ? is_name_prefix(name, len - 1) : is_name(name, len);
    if (slash && name_is_right && dns_is_subdomain(text, (size_t)(slash - text)))
        return NULL;
    return "a resource name DOMAIN/NAME, such as nvidia.com/gpu, where '*' may only be the last "
           "character, as in nvidia.com/mig-*";
}

const char *syntax_whole_resource(const char *text)
{
    if (!strchr(text, '*') && !syntax_resource(text))
        return NULL;
    return "a resource name DOMAIN/NAME, such as nvidia.com/gpu";
}

const char *syntax_label_key(const char *text)
{
    const char *slash = strchr(text, '/');
    const char *name = slash ? slash + 1 : text;
    bool domain_is_right = !slash || dns_is_subdomain(text, (size_t)(slash - text));
    if (domain_is_right && is_name(name, strlen(name)))
        return NULL;
    return "a label key, such as nvidia.com/gpu.product or accelerator";
}

const char *syntax_label_pattern(const char *text)
{
    char key[LABEL_PATTERN_MAX];
    const char *star = strchr(text, '*');
    const int n = star ? snprintf(key, sizeof key, "%.*sx%s", (int)(star - text), text, star + 1)
                       : snprintf(key, sizeof key, "%s", text);
    if (n > 0 && (size_t)n < sizeof key && !syntax_label_key(key))
        return NULL;
    return "a label key, in which one '*' may stand for any text, such as "
           "nvidia.com/mig-*.memory";
}

const char *syntax_value_pattern(const char *text)
{
    const size_t len = strlen(text);
    const bool is_prefix = len > 0 && text[len - 1] == '*';
    if (is_prefix ? is_name_prefix(text, len - 1) : !syntax_label_value(text))
        return NULL;
    return "the value of a label, where '*' may only be the last character, as in spx*";
}

const char *syntax_label_value(const char *text)
{
    if (*text == '\0' || is_name(text, strlen(text)))
        return NULL;
    return "the value of a label, such as research";
}

const char *syntax_dns_label(const char *text)
{
    if (dns_is_label(text))
        return NULL;
    return "a name of at most 63 small letters, digits and '-', such as team-a";
}

const char *syntax_gang_convention(const char *text)
{
    static const char *const NAMES[] = {"kueue", "koordinator", "yunikorn"};
    if (strncmp(text, "lws/", 4) == 0 && !syntax_dns_label(text + 4))
        return NULL;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        if (strcmp(text, NAMES[i]) == 0)
            return NULL;
    }
    return "kueue, koordinator, yunikorn or lws/NAMESPACE, such as lws/inference";
}

const char *syntax_dns_label_or_none(const char *text)
{
    return *text == '\0' ? NULL : syntax_dns_label(text);
}

const char *syntax_alias(const char *text)
{
    bool has_word = false;
    for (const char *p = text; *p; p++) {
        if (*p < ' ' || *p > '~')
            return "the text of a label value, in plain ASCII";
        has_word = has_word || is_alnum(*p);
    }
    return has_word ? NULL : "the text of a label value, with at least one letter or digit";
}

const char *syntax_object_name(const char *text)
{
    if (dns_is_subdomain(text, strlen(text)))
        return NULL;
    return "a name of small letters, digits, '-' and '.', such as web-0";
}

const char *syntax_driver(const char *text)
{
    if (dns_is_subdomain(text, strlen(text)) && strlen(text) <= NAME_LEN_MAX)
        return NULL;
    return "the name of a DRA driver, such as gpu.nvidia.com";
}

const char *syntax_attribute(const char *text)
{
    const size_t len = strlen(text);
    bool is_identifier = len > 0 && len <= ATTRIBUTE_LEN_MAX && !isdigit((unsigned char)text[0]);
    for (size_t i = 0; i < len; i++)
        is_identifier = is_identifier && (is_alnum(text[i]) || text[i] == '_');
    return is_identifier ? NULL : "the name of an attribute without a domain, such as productName";
}

const char *syntax_model(const char *text)
{
    struct gpu_model model;
    if (!syntax_alias(text) && gpu_model_parse(text, NULL, 0, &model))
        return NULL;
    return "the name of a GPU model, such as A100-80GB (a brand alone is no model)";
}
