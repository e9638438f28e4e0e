/* judge: see judge.h. The device is an H100. */
#include "judge.h"

static const struct cel_fact FACTS[] = {
    {.domain = "gpu.nvidia.com",
     .name = "productName",
     .kind = CEL_STRING,
     .text = "NVIDIA H100 80GB HBM3"},
    {.domain = "gpu.nvidia.com", .name = "type", .kind = CEL_STRING, .text = "gpu"},
    {.domain = "gpu.nvidia.com", .name = "index", .kind = CEL_INT, .integer = 2},
    {.domain = "gpu.nvidia.com", .name = "sriov", .kind = CEL_BOOL, .boolean = false},
    {.domain = "gpu.nvidia.com",
     .name = "cudaComputeCapability",
     .kind = CEL_VERSION,
     .text = "9.0.0"},
    {.domain = "gpu.nvidia.com",
     .name = "driverVersion",
     .kind = CEL_VERSION,
     .text = "580.65.6-rc.1"},
    {.domain = "resource.kubernetes.io",
     .name = "pciBusID",
     .kind = CEL_STRING,
     .text = "0000:04:00.0"},
    {.domain = "gpu.nvidia.com", .name = "memory", .kind = CEL_QUANTITY, .text = "81559Mi"},
};

static const char *named(const char *name, const char *message, struct arena *arena)
{
    return arena_printf(arena, "%s: %s", name, message);
}

const char *judge(const char *expression, struct arena *arena)
{
    const struct cel_device device = {
        .driver = "gpu.nvidia.com", .facts = FACTS, .n_facts = sizeof FACTS / sizeof FACTS[0]};
    struct cel_program *program = cel_compile(expression, arena);
    if (cel_verdict(program) != CEL_VALID)
        return named(cel_verdict(program) == CEL_INVALID ? "invalid" : "not judged",
                     cel_message(program), arena);
    struct cel_answer answer = cel_evaluate(program, &device, arena);
    if (answer.verdict != CEL_VALID)
        return named(answer.verdict == CEL_INVALID ? "error" : "not judged", answer.message, arena);
    return answer.value ? "true" : "false";
}
