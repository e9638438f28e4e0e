/* caller: see include/auth/caller.h. */
#include "auth/caller.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

uint64_t caller_of(const char *name, const char *const *groups)
{
    struct buf text;
    size_t n = 0;
    while (groups[n])
        n++;
    const char **sorted = MEM_ARRAY(const char *, n + 1);
    memcpy(sorted, groups, n * sizeof *groups);
    qsort(sorted, n, sizeof *sorted, compare);
    buf_init(&text, BUF_UNBOUNDED);         /* the user is bounded */
    buf_add(&text, name, strlen(name) + 1); /* the NUL separates it from the groups */
    for (size_t i = 0; i < n; i++)
        buf_add(&text, sorted[i], strlen(sorted[i]) + 1);
    const uint64_t caller = hash_bytes(text.data, text.len);
    buf_fini(&text);
    free(sorted);
    return caller > 0 ? caller : 1;
}
