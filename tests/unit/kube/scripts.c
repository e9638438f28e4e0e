/* scripts: see scripts.h. */
#include "scripts.h"

#include <stdlib.h>

int scripts_run(CMUnitTestFunction run, const void *scripts, size_t n, size_t size)
{
    struct CMUnitTest *tests = calloc(n, sizeof *tests);
    for (size_t i = 0; i < n; i++) {
        char *script = (char *)(uintptr_t)scripts + i * size;
        tests[i] = (struct CMUnitTest){*(const char **)(void *)script, run, NULL, NULL, script};
    }
    const int failed = _cmocka_run_group_tests("scripts", tests, n, NULL, NULL);
    free(tests);
    return failed;
}
