/* compare_count: see compare_count.h. */
#include "compare_count.h"

int __real_strcmp(const char *a, const char *b);
int __real_memcmp(const void *a, const void *b, size_t len);
int __wrap_strcmp(const char *a, const char *b);
int __wrap_memcmp(const void *a, const void *b, size_t len);

static size_t n_compares;

int __wrap_strcmp(const char *a, const char *b)
{
    n_compares++;
    return __real_strcmp(a, b);
}

int __wrap_memcmp(const void *a, const void *b, size_t len)
{
    n_compares++;
    return __real_memcmp(a, b, len);
}

size_t compare_count(void)
{
    return n_compares;
}
