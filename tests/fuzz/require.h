/*
 * require: what must hold whatever the input is. libFuzzer reports an abort with its input.
 */
#ifndef FUZZ_REQUIRE_H
#define FUZZ_REQUIRE_H

#include <stdbool.h>
#include <stdlib.h>

static inline void require(bool holds)
{
    if (!holds)
        abort();
}

#endif
