/* setting_rows: the settings that are lists and mappings of rows: models.units, deviceDrivers, and
 * allowed client certificates ({names: [...], organizations: [...]}). */
#include "base/mem.h"
#include "config/syntax.h"
#include "formats/json_values.h"
#include "mapping.h"
#include "setting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_OF(array) (sizeof(array) / sizeof *(array))

/* A row as it is read; says is N_GPU_LABEL_SAYS without one. */
struct unit_row {
    const char *resource, *label, *whole, *replicas, *unit;
    enum gpu_label_says says;
};

static const char *check_unit(const char *text)
{
    return text[0] && gpu_label_unit_bytes(text) > 0 ? NULL
                                                     : "a unit of memory: B, Ki, Mi, Gi or Ti";
}

static enum gpu_label_says says_of(const char *text)
{
    enum gpu_label_says says = GPU_LABEL_COUNT;
    while (says < N_GPU_LABEL_SAYS && strcmp(gpu_label_says_name(says), text) != 0)
        says++;
    return says;
}

static const char *check_says(const char *text)
{
    return says_of(text) < N_GPU_LABEL_SAYS ? NULL
                                            : "one of count, replicas, strategy, partition, memory";
}

static int read_says(const struct mapping_reading *reading, const struct yaml_value *at,
                     void *target)
{
    const char *text = "";
    const int r = mapping_text(reading, at, check_says, &text);
    if (r == 0)
        ((struct unit_row *)target)->says = says_of(text);
    return r;
}

/* What is wrong with the row as a whole; NULL: nothing. */
static const char *fault_of(const struct unit_row *row)
{
    const bool has_whole = row->says == GPU_LABEL_STRATEGY || row->says == GPU_LABEL_PARTITION;
    if (!row->resource || !row->label || row->says == N_GPU_LABEL_SAYS)
        return "should have resource, label and says";
    if ((row->says == GPU_LABEL_MEMORY) != (row->unit[0] != '\0'))
        return "should have a unit if and only if it says memory";
    if (row->whole[0] && !has_whole)
        return "has whole, which only strategy and partition may have";
    if (row->replicas[0] && row->says != GPU_LABEL_STRATEGY)
        return "has replicas, which only strategy may have";
    return NULL;
}

static int read_unit(const struct mapping_reading *reading, const struct yaml_value *at,
                     void *target)
{
    static const struct mapping_key MEMBERS[] = {
        {"resource", NULL, syntax_resource, offsetof(struct unit_row, resource)},
        {"label", NULL, syntax_label_pattern, offsetof(struct unit_row, label)},
        {.key = "says", .read = read_says},
        {"whole", NULL, syntax_value_pattern, offsetof(struct unit_row, whole)},
        {"replicas", NULL, syntax_label_key, offsetof(struct unit_row, replicas)},
        {"unit", NULL, check_unit, offsetof(struct unit_row, unit)}};
    struct policy *policy = target;
    struct unit_row row = {.whole = "", .replicas = "", .unit = "", .says = N_GPU_LABEL_SAYS};
    const int r = mapping_read(reading, at, MEMBERS, N_OF(MEMBERS), &row);
    if (r < 0)
        return r;
    const char *fault = fault_of(&row);
    if (fault)
        return yaml_fault(reading->file, at, reading->err, "%s", fault);
    policy_add_unit(policy, &(struct gpu_label){row.resource, row.label, row.says, row.whole,
                                                row.replicas, row.unit});
    return 0;
}

int setting_read_units(const struct mapping_reading *reading, const struct yaml_value *list,
                       void *target)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct mapping_reading of_rows = {
        .file = reading->file, .arena = arena, .err = reading->err};
    const size_t n = json_array_size(list->value);
    if (!json_is_array(list->value))
        return yaml_wrong(reading->file, list, "a list of rows", reading->err);
    if (n > GPU_LABELS_MAX)
        return yaml_fault(reading->file, list, reading->err, "has %zu rows, should have at most %d",
                          n, GPU_LABELS_MAX);
    policy_clear_units(target);
    return mapping_items(&of_rows, list, read_unit, target);
}

/* deviceDrivers. */

/* The texts of one driver. */
struct driver_row {
    const char *model_attribute, *resource;
};

static int read_driver(const struct mapping_reading *reading, const struct yaml_value *at)
{
    static const struct mapping_key MEMBERS[] = {
        {"model", NULL, syntax_attribute, offsetof(struct driver_row, model_attribute)},
        {"resource", NULL, syntax_whole_resource, offsetof(struct driver_row, resource)}};
    const struct yaml_value key_only = {at->container, at->key, at->path, NULL};
    const char *right = syntax_driver(at->key);
    struct driver_row row = {NULL, ""};
    if (right)
        return yaml_fault(reading->file, &key_only, reading->err,
                          "is not a driver's name, should be %s", right);
    if (!json_is_object(at->value))
        return yaml_wrong(reading->file, at, "a mapping of model, resource", reading->err);
    const int r = mapping_read(reading, at, MEMBERS, N_OF(MEMBERS), &row);
    if (r < 0)
        return r;
    if (!row.model_attribute)
        return yaml_fault(reading->file, at, reading->err,
                          "has no model, should name the attribute that gives a device's model");
    policy_add_device_driver(reading->policy, at->key, row.model_attribute, row.resource);
    return 0;
}

int setting_read_drivers(const struct mapping_reading *reading, const struct yaml_value *at,
                         void *target)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct mapping_reading of_rows = {
        .file = reading->file, .policy = target, .arena = arena, .err = reading->err};
    const size_t n = json_object_size(at->value);
    const char *key = NULL;
    json_t *value = NULL;
    if (!json_is_object(at->value))
        return yaml_wrong(reading->file, at, "a mapping of driver names", reading->err);
    if (n > DEVICE_DRIVERS_MAX)
        return yaml_fault(reading->file, at, reading->err,
                          "has %zu drivers, should have at most %d", n, DEVICE_DRIVERS_MAX);
    policy_clear_device_drivers(target);
    json_object_foreach (at->value, key, value) {
        struct mapping_spot spot;
        mapping_member(at, key, &spot);
        const int r = read_driver(&of_rows, &spot.at);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Client certificates. */

static void free_list(char ***texts, size_t *n)
{
    for (size_t i = 0; i < *n; i++)
        free((*texts)[i]);
    free(*texts);
    *texts = NULL;
    *n = 0;
}

void setting_fini_clients(struct settings_clients *clients)
{
    free_list(&clients->names, &clients->n_names);
    free_list(&clients->organizations, &clients->n_organizations);
}

static int check_name(const struct mapping_reading *reading, const struct yaml_value *at,
                      void *target)
{
    (void)target;
    return json_string_length(at->value) > 0
               ? 0
               : yaml_wrong(reading->file, at, "a string that is not empty", reading->err);
}

static int read_list(const struct mapping_reading *reading, const struct yaml_value *list,
                     char ***texts, size_t *n)
{
    if (!json_is_array(list->value))
        return yaml_wrong(reading->file, list, "a list of strings", reading->err);
    const int r = mapping_items(reading, list, check_name, NULL);
    if (r < 0)
        return r;
    *n = json_array_size(list->value);
    *texts = MEM_ARRAY(char *, *n);
    for (size_t i = 0; i < *n; i++)
        (*texts)[i] = mem_strdup(json_string_value(json_array_get(list->value, i)));
    return 0;
}

static int read_names(const struct mapping_reading *reading, const struct yaml_value *at,
                      void *target)
{
    struct settings_clients *clients = target;
    return read_list(reading, at, &clients->names, &clients->n_names);
}

static int read_organizations(const struct mapping_reading *reading, const struct yaml_value *at,
                              void *target)
{
    struct settings_clients *clients = target;
    return read_list(reading, at, &clients->organizations, &clients->n_organizations);
}

int setting_read_clients(const struct mapping_reading *reading, const struct yaml_value *at,
                         void *target)
{
    static const struct mapping_key MEMBERS[] = {
        {.key = "names", .read = read_names}, {.key = "organizations", .read = read_organizations}};
    if (!json_is_object(at->value))
        return yaml_wrong(reading->file, at, "a mapping of names, organizations", reading->err);
    setting_fini_clients(target);
    return mapping_read(reading, at, MEMBERS, N_OF(MEMBERS), target);
}

static bool is_one_of(const char *text, char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(text, list[i]) == 0)
            return true;
    }
    return false;
}

bool settings_names_client(const struct settings_clients *clients, const char *common_name,
                           const char *const *organizations)
{
    if (is_one_of(common_name, clients->names, clients->n_names))
        return true;
    for (const char *const *each = organizations; *each; each++) {
        if (is_one_of(*each, clients->organizations, clients->n_organizations))
            return true;
    }
    return false;
}
