/* own_namespace: see own_namespace.h. */
#include "own_namespace.h"
#include "base/buf.h"
#include "base/small_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMESPACE_FILE "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

static bool read_namespace(char ret_name[OWN_NAMESPACE_BYTES])
{
    struct buf text;
    buf_init(&text, OWN_NAMESPACE_BYTES - 1);
    const bool is_read = small_file_read(NAMESPACE_FILE, true, &text, NULL) == 0;
    (void)snprintf(ret_name, OWN_NAMESPACE_BYTES, "%.*s", (int)strcspn(buf_text(&text), "\r\n "),
                   buf_text(&text));
    buf_fini(&text);
    return is_read && *ret_name;
}

int own_namespace_find(const struct settings *settings, char ret_name[OWN_NAMESPACE_BYTES],
                       struct err *err)
{
    const char *of_pod = getenv("POD_NAMESPACE");
    const char *name = settings->election.namespace_;
    (void)snprintf(ret_name, OWN_NAMESPACE_BYTES, "%s", *name || !of_pod ? name : of_pod);
    if (*ret_name || read_namespace(ret_name))
        return 0;
    return err_set(
        err, EINVAL,
        "leaderElection.namespace: is empty, should be the namespace of the Lease and of "
        "wake.objectName (or set POD_NAMESPACE in the environment)");
}
