/*
 * base64: PEM texts as kubeconfig files hold them (RFC 4648, section 4, with padding).
 *
 * Line breaks are skipped when reading, as Go's decoder does; nothing else is forgiven.
 */
#ifndef KUBE_CONFIG_BASE64_H
#define KUBE_CONFIG_BASE64_H

#include <stddef.h>

/* 0, or -EINVAL: it is no base64. The bytes are the caller's (free()), NUL-terminated. */
int base64_decode(const char *text, char **ret_bytes, size_t *ret_len);
/* The text is the caller's (free()). Never NULL. */
char *base64_encode(const char *bytes, size_t len);

#endif
