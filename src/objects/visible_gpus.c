/* visible_gpus: see visible_gpus.h. Source: NVIDIA container toolkit, "Environment variables". */
#include "visible_gpus.h"
#include "formats/json_get.h"
#include "quoted.h"

#include <string.h>

#define VARIABLE "NVIDIA_VISIBLE_DEVICES"

static bool shows_gpus(const json_t *variable)
{
    static const char *const NO_GPUS[] = {"", "none", "void"};
    const char *name = json_string_value(json_member(variable, "name"));
    const char *value = json_string_value(json_member(variable, "value"));
    if (!name || strcmp(name, VARIABLE) != 0 || !value)
        return false;
    for (size_t i = 0; i < sizeof NO_GPUS / sizeof *NO_GPUS; i++) {
        if (strcmp(value, NO_GPUS[i]) == 0)
            return false;
    }
    return true;
}

static void find_in(const struct warned *object, const json_t *container, const char *path)
{
    const json_t *variables = json_member(container, "env");
    for (size_t i = 0; i < json_array_size(variables) && !warned_is_full(object); i++) {
        const json_t *variable = json_array_get(variables, i);
        if (!shows_gpus(variable))
            continue;
        const char *value = json_string_value(json_member(variable, "value"));
        warned_add(object, arena_printf(object->arena, "%s.env[%zu]", path, i),
                   arena_printf(object->arena,
                                VARIABLE "=%s bypasses the allocation: the container may see GPUs "
                                         "that other pods use, and nothing counts them; leave it "
                                         "out, and request nvidia.com/gpu or a resource claim",
                                quoted_plain(object->arena, value)));
    }
}

void visible_gpus_find(const struct warned *object, const struct pod_template *template)
{
    static const char *const LISTS[] = {"containers", "initContainers"};
    const json_t *spec = json_member(template->object, "spec");
    const char *dot = *template->path ? "." : "";
    for (size_t i = 0; i < sizeof LISTS / sizeof *LISTS; i++) {
        const json_t *list = json_member(spec, LISTS[i]);
        for (size_t j = 0; j < json_array_size(list) && !warned_is_full(object); j++)
            find_in(
                object, json_array_get(list, j),
                arena_printf(object->arena, "%s%sspec.%s[%zu]", template->path, dot, LISTS[i], j));
    }
}
