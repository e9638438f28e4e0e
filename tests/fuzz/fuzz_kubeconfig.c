/*
 * Reads any bytes as a kubeconfig. Nothing crashes; the result is a usable target, or a message
 * that begins with the file.
 */
#include "kube/target.h"
#include "memory_file.h"
#include "require.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Characters allowed in a header or an address. */
static bool is_printable(const char *text)
{
    for (; text && *text; text++) {
        if (*text <= ' ' || *text > '~')
            return false;
    }
    return true;
}

static bool is_absolute(const char *path)
{
    return !path || path[0] == '/';
}

static void check_target(const struct kube_target *target)
{
    require(strncmp(target->server, "http", 4) == 0 && is_printable(target->server));
    require(target->server[strlen(target->server) - 1] != '/');
    require(is_printable(target->token) && is_printable(target->proxy_url) &&
            is_printable(target->tls_server_name));
    require(is_absolute(target->ca_file) && is_absolute(target->cert_file) &&
            is_absolute(target->key_file) && is_absolute(target->token_file));
    require(!target->insecure || !(target->ca_pem || target->ca_file));
    require(!(target->cert_pem || target->cert_file) == !(target->key_pem || target->key_file));
    require(!target->exec.command || (target->exec.args && !target->token && !target->token_file));
    require(target->source != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct memory_file file;
    struct kube_target target;
    struct err err = {.text = ""};
    memory_file_init(&file, (const char *)data, size);
    const struct kube_lookup lookup = {.kubeconfig = file.path};
    if (kube_target_find(&lookup, &target, &err) < 0) {
        require(strncmp(err.text, file.path, strlen(file.path)) == 0);
    } else {
        check_target(&target);
        kube_target_fini(&target);
    }
    memory_file_fini(&file);
    return 0;
}
