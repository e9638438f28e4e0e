/* model_names: see model_names.h. */
#include "model_names.h"

#include <stdio.h>
#include <string.h>

#define NAME_SIZE ((size_t)4 * GPU_MODEL_TEXT_MAX)

/* Brands, which name no model: with one, a name is no longer the alias's. */
static const char *const BRANDS[] = {"", "NVIDIA-", "Tesla-", "AMD-"};

static const char *sharing_text(const struct gpu_model *model, char *text, size_t size)
{
    text[0] = '\0';
    if (model->sharing == GPU_TIME_SHARED)
        (void)snprintf(text, size, "-SHARED");
    if (model->sharing == GPU_MIG_SLICED)
        (void)snprintf(text, size, "-MIG%s%s", model->mig_profile[0] ? "-" : "",
                       model->mig_profile);
    return text;
}

static bool is_read_as(const char *name, const struct gpu_model *model, const struct policy *policy)
{
    struct gpu_model read;
    return gpu_model_parse(name, policy->aliases, policy->n_aliases, &read) &&
           gpu_model_equal(&read, model) && read.sharing == model->sharing &&
           strcmp(read.mig_profile, model->mig_profile) == 0;
}

static bool find_alias(const struct gpu_model *model, const char *sharing,
                       const struct policy *policy, char *name)
{
    for (size_t i = 0; i < policy->n_aliases; i++) {
        const int n = snprintf(name, NAME_SIZE, "%s%s", policy->aliases[i].from, sharing);
        if (n >= 0 && (size_t)n < NAME_SIZE && is_read_as(name, model, policy))
            return true;
    }
    return false;
}

/* A name that is read as the model, whatever the aliases; true where there is one. */
static bool find_name(const struct gpu_model *model, const char *canonical, const char *sharing,
                      const struct policy *policy, char *name)
{
    for (size_t i = 0; i < sizeof BRANDS / sizeof *BRANDS; i++) {
        (void)snprintf(name, NAME_SIZE, "%s%s%s", BRANDS[i], canonical, sharing);
        if (is_read_as(name, model, policy))
            return true;
    }
    return find_alias(model, sharing, policy, name);
}

void model_names_add(const struct gpu_model *model, const struct policy *policy, struct buf *out)
{
    char canonical[2 * GPU_MODEL_TEXT_MAX];
    char sharing[GPU_MODEL_TEXT_MAX];
    char name[NAME_SIZE];
    (void)gpu_model_text(model, canonical);
    (void)sharing_text(model, sharing, sizeof sharing);
    if (policy->n_aliases == 0 || !find_name(model, canonical, sharing, policy, name))
        (void)snprintf(name, sizeof name, "%s%s", canonical, sharing);
    buf_add_text(out, name);
}
