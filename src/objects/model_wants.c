/* model_wants: see model_wants.h. */
#include "model_wants.h"

#include "annotations.h"
#include "fields.h"
#include "types/quantity.h"

#include <ctype.h>
#include <string.h>

/* A smaller value lacks its unit. */
#define MIN_SENSIBLE_BYTES ((int64_t)1024 * 1024)

struct wanted_models {
    const struct gpu_model *items;
    size_t n;
};

static size_t count_items(const char *text)
{
    size_t n = 1;
    for (; *text; text++)
        n += *text == ',';
    return n;
}

/* The item without surrounding space. */
static const char *trimmed(const char *item, size_t len, struct arena *arena)
{
    while (len > 0 && isspace((unsigned char)*item)) {
        item++;
        len--;
    }
    while (len > 0 && isspace((unsigned char)item[len - 1]))
        len--;
    return arena_strndup(arena, item, len);
}

static int read_item(const char *item, const struct policy *policy, struct arena *arena,
                     struct gpu_model *ret_model, struct err *err)
{
    if (*item == '\0')
        return err_set(err, EINVAL, "an item of the list is empty");
    if (!gpu_model_parse(item, policy->aliases, policy->n_aliases, ret_model))
        return err_set(err, EINVAL, "%s names no GPU model", quoted(arena, item));
    return 0;
}

static int read_models(const char *text, const struct policy *policy, struct arena *arena,
                       struct wanted_models *ret_list, struct err *err)
{
    if (!text)
        return 0;
    size_t n = count_items(text);
    struct gpu_model *models = ARENA_ARRAY(arena, struct gpu_model, n);
    for (size_t i = 0; i < n; i++) {
        size_t len = strcspn(text, ",");
        int r = read_item(trimmed(text, len, arena), policy, arena, &models[i], err);
        if (r < 0)
            return r;
        text += len + (text[len] == ',');
    }
    *ret_list = (struct wanted_models){models, n};
    return 0;
}

static int read_memory(const char *text, int64_t *ret_bytes, struct err *err)
{
    if (!text)
        return 0;
    int64_t bytes = 0;
    int r = quantity_value(text, &bytes, err);
    if (r == 0 && bytes < MIN_SENSIBLE_BYTES)
        r = err_set(err, EINVAL, "\"%.40s\" is less than 1Mi, should be as in 40Gi", text);
    if (r == 0)
        *ret_bytes = bytes;
    return r;
}

/* An accepted model that an exclusion rules out entirely. */
static int check_contradiction(const struct wanted_models *accept,
                               const struct wanted_models *exclude, struct err *err)
{
    char accepted[128];
    char excluded[128];
    for (size_t i = 0; i < accept->n; i++) {
        for (size_t j = 0; j < exclude->n; j++) {
            if (gpu_model_satisfies(&accept->items[i], 0, &exclude->items[j]))
                return err_set(err, EINVAL,
                               "annotation " ANNOTATION_MODELS " accepts %s, but "
                               "annotation " ANNOTATION_EXCLUDE_MODELS " excludes %s",
                               gpu_model_text(&accept->items[i], accepted),
                               gpu_model_text(&exclude->items[j], excluded));
        }
    }
    return 0;
}

int model_wants_read(const struct model_wants_texts *texts, const struct policy *policy,
                     struct arena *arena, struct model_wants *ret_wants, struct err *err)
{
    struct wanted_models accept = {0};
    struct wanted_models exclude = {0};
    int64_t min_bytes = 0;
    int r = read_models(texts->models, policy, arena, &accept, err);
    if (r < 0) {
        err_prefix(err, "annotation " ANNOTATION_MODELS ": ");
        return r;
    }
    if ((r = read_models(texts->exclude_models, policy, arena, &exclude, err)) < 0) {
        err_prefix(err, "annotation " ANNOTATION_EXCLUDE_MODELS ": ");
        return r;
    }
    if ((r = read_memory(texts->min_gpu_memory, &min_bytes, err)) < 0) {
        err_prefix(err, "annotation " ANNOTATION_MIN_GPU_MEMORY ": ");
        return r;
    }
    if ((r = check_contradiction(&accept, &exclude, err)) < 0)
        return r;
    *ret_wants = (struct model_wants){accept.items, accept.n, exclude.items, exclude.n, min_bytes};
    return 0;
}
