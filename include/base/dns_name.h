/*
 * dns_name: names of objects as Kubernetes takes them. Source: RFC 1123, and IsDNS1123Label and
 * IsDNS1123Subdomain in k8s.io/apimachinery/pkg/util/validation.
 */
#ifndef BASE_DNS_NAME_H
#define BASE_DNS_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define DNS_LABEL_BYTES_MAX ((size_t)63)
#define DNS_SUBDOMAIN_BYTES_MAX ((size_t)253)

/* Between two dots, of any length. */
static inline bool dns_is_part(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (!(text[i] >= 'a' && text[i] <= 'z') && !(text[i] >= '0' && text[i] <= '9') &&
            text[i] != '-')
            return false;
    }
    return len > 0 && text[0] != '-' && text[len - 1] != '-';
}

static inline bool dns_is_label(const char *text)
{
    const size_t len = strlen(text);
    return len <= DNS_LABEL_BYTES_MAX && dns_is_part(text, len);
}

static inline bool dns_is_subdomain(const char *text, size_t len)
{
    const char *const end = text + len;
    const char *dot = NULL;
    if (len > DNS_SUBDOMAIN_BYTES_MAX)
        return false;
    while ((dot = memchr(text, '.', (size_t)(end - text)))) {
        if (!dns_is_part(text, (size_t)(dot - text)))
            return false;
        text = dot + 1;
    }
    return dns_is_part(text, (size_t)(end - text));
}

#endif
