/* version: see include/kube/version.h. */
#include "kube/version.h"

#include <stdlib.h>
#include <string.h>

#define MINOR_MAX 10000

int kube_minor_of(const char *git_version)
{
    char *end = NULL;
    if (!git_version || strncmp(git_version, "v1.", 3) != 0)
        return -1;
    const long minor = strtol(git_version + 3, &end, 10);
    return end == git_version + 3 || minor < 0 || minor > MINOR_MAX ? -1 : (int)minor;
}
