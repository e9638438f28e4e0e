/* Parses any text as a GPU's name, and, cut at the first newlines, with an alias. The canonical
 * text parses to the same model, and a model satisfies itself. */
#include "require.h"
#include "types/gpu_model.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char *name, const struct gpu_model_alias *aliases, size_t n_aliases)
{
    struct gpu_model model;
    struct gpu_model again;
    bool is_model = gpu_model_parse(name, aliases, n_aliases, &model);
    require(is_model == (model.chip[0] != '\0'));
    char text[128];
    char text_again[128];
    require(gpu_model_parse(gpu_model_text(&model, text), NULL, 0, &again) == is_model);
    require(gpu_model_equal(&model, &again) && again.sharing == GPU_WHOLE);
    require(strcmp(text, gpu_model_text(&again, text_again)) == 0);
    require(gpu_model_satisfies(&model, 0, &again) == is_model);
    require(gpu_model_memory_bytes(&model) >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *name = malloc(size + 1);
    if (!name)
        return 0;
    memcpy(name, data, size);
    name[size] = '\0';
    check(name, NULL, 0);
    char *rest = name;
    (void)strsep(&rest, "\n");
    char *from = rest ? strsep(&rest, "\n") : NULL;
    if (rest)
        check(name, &(struct gpu_model_alias){from, rest}, 1);
    free(name);
    return 0;
}
