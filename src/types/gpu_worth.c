/* gpu_worth: see include/types/gpu_model.h. */
#include "types/gpu_model.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* memory_gb 0: of any size. */
static const struct {
    const char *chip;
    int32_t memory_gb;
} ORDER[] = {
    {"GB300", 0},       {"B300", 0},     {"GB200", 0},    {"B200", 0},      {"MI355X", 0},
    {"MI350X", 0},      {"MI325X", 0},   {"MI300X", 0},   {"MI300A", 0},    {"MI308X", 0},
    {"GH200", 0},       {"H200", 0},     {"H100", 0},     {"H800", 0},      {"H20", 0},
    {"A100", 80},       {"A800", 0},     {"A100", 0},     {"MI250X", 0},    {"MI250", 0},
    {"MI210", 0},       {"L40S", 0},     {"L40", 0},      {"L20", 0},       {"RTX-6000-Ada", 0},
    {"RTX-5090", 0},    {"RTX-4090", 0}, {"V100", 0},     {"A40", 0},       {"RTX-A6000", 0},
    {"A30", 0},         {"A10", 0},      {"A10G", 0},     {"RTX-A5000", 0}, {"RTX-3090", 0},
    {"L4", 0},          {"RTX-4080", 0}, {"RTX-3080", 0}, {"A16", 0},       {"A2", 0},
    {"RTX-2080-Ti", 0}, {"P100", 0},     {"P40", 0},      {"T4", 0},        {"GTX-1080-Ti", 0},
    {"P4", 0},          {"M60", 0},      {"M40", 0},      {"K80", 0},       {"Flex-170", 0},
    {"Flex-140", 0},
};

size_t gpu_worth(const char *model)
{
    struct gpu_model read;
    if (!gpu_model_parse(model, NULL, 0, &read))
        return GPU_WORTH_NONE;
    for (size_t i = 0; i < COUNT(ORDER); i++) {
        if (strcmp(read.chip, ORDER[i].chip) == 0 &&
            (ORDER[i].memory_gb == 0 || read.memory_gb == ORDER[i].memory_gb))
            return 1 + 2 * i + (read.sharing != GPU_WHOLE);
    }
    return 0;
}
