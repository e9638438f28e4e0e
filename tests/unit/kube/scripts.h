/* scripts: tests as tables: each script is a cmocka test of its own. */
#ifndef SCRIPTS_H
#define SCRIPTS_H

#include "unit.h"

/* scripts: n structs of this size, each of which begins with its name (const char *). run gets one
 * as its state. Returns the number of failed ones. */
int scripts_run(CMUnitTestFunction run, const void *scripts, size_t n, size_t size);

#endif
