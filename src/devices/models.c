/* models: the models that devices publish, each parsed and kept once. */
#include "base/mem.h"
#include "devices_priv.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The canonical name, with the profile of a partition. */
static struct device_kind *new_kind(const struct policy *policy, const char *text,
                                    const char *profile)
{
    struct gpu_model model;
    char canonical[2 * GPU_MODEL_TEXT_MAX];
    (void)gpu_model_parse(text, policy->aliases, policy->n_aliases, &model);
    (void)gpu_model_text(&model, canonical);
    const size_t size = strlen(canonical) + sizeof "-PARTITION-" + strlen(profile);
    struct device_kind *kind = mem_new(sizeof *kind + size);
    const bool is_mig = isdigit((unsigned char)profile[0]);
    const char *between = is_mig ? "-MIG-" : "-PARTITION-";
    (void)snprintf(kind->name, size, "%s%s%s", canonical, profile[0] ? between + !canonical[0] : "",
                   profile);
    if (profile[0]) {
        model.sharing = is_mig ? GPU_MIG_SLICED : GPU_PARTITIONED;
        const bool fits = strlen(profile) < sizeof model.mig_profile;
        (void)snprintf(model.mig_profile, sizeof model.mig_profile, "%s",
                       fits ? profile : "invalid");
    }
    kind->model = model;
    return kind;
}

struct device_kind *models_ref(struct devices *devices, const char *text, const char *profile,
                               int64_t memory_bytes)
{
    struct device_kind *kind = NULL;
    const struct kind_key key = {string_table_intern(&devices->strings, text),
                                 string_table_intern(&devices->strings, profile), memory_bytes};
    HASH_FIND(hh, devices->kinds, &key, sizeof key, kind);
    if (kind) {
        string_table_unref(&devices->strings, key.text);
        string_table_unref(&devices->strings, key.profile);
    } else {
        kind = new_kind(devices->policy, text, profile);
        kind->key = key;
        HASH_ADD(hh, devices->kinds, key, sizeof kind->key, kind);
        if (profile[0])
            kind->whole = models_ref(devices, text, "", 0);
    }
    kind->refs++;
    return kind;
}

void models_unref(struct devices *devices, struct device_kind *kind)
{
    while (kind && --kind->refs == 0) {
        struct device_kind *whole = kind->whole;
        HASH_DEL(devices->kinds, kind);
        string_table_unref(&devices->strings, kind->key.text);
        string_table_unref(&devices->strings, kind->key.profile);
        free(kind);
        kind = whole;
    }
}

struct device_kind *models_of(const struct device_model *model)
{
    return CONTAINER_OF(model->model, struct device_kind, model);
}
