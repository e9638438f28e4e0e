/* Compiles any text as a selector, and judges a device with it. Nothing crashes, a verdict has a
 * message, and the same question has the same answer. */
#include "base/arena.h"
#include "base/mem.h"
#include "cel/cel.h"
#include "require.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct cel_fact FACTS[] = {
    {.domain = "d", .name = "s", .kind = CEL_STRING, .text = "NVIDIA H100 80GB HBM3"},
    {.domain = "d", .name = "i", .kind = CEL_INT, .integer = 7},
    {.domain = "d", .name = "b", .kind = CEL_BOOL, .boolean = true},
    {.domain = "d", .name = "v", .kind = CEL_VERSION, .text = "9.0.0-rc.1+b"},
    {.domain = "d", .name = "q", .kind = CEL_QUANTITY, .text = "81559Mi"},
};

static void check(const char *text)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct cel_device device = {
        .driver = "d", .facts = FACTS, .n_facts = sizeof FACTS / sizeof FACTS[0]};
    struct cel_program *program = cel_compile(text, arena);
    require((cel_verdict(program) == CEL_VALID) == (*cel_message(program) == '\0'));
    if (cel_verdict(program) != CEL_VALID)
        return;
    struct cel_answer first = cel_evaluate(program, &device, arena);
    struct cel_answer again = cel_evaluate(program, &device, arena);
    require(first.verdict == again.verdict && first.value == again.value);
    require(strcmp(first.message, again.message) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    check(text);
    free(text);
    return 0;
}
