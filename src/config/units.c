/* units: see units.h. */
#include "units.h"

#include "base/mem.h"
#include "mapping.h"

#include <string.h>

#define N_OF(array) (sizeof(array) / sizeof *(array))

/* A row as it is read; says is N_GPU_LABEL_SAYS without one. */
struct unit_row {
    const char *resource, *label, *whole, *replicas, *unit;
    enum gpu_label_says says;
};

static int read_resource(const struct mapping_reading *reading, const struct yaml_value *at,
                         void *target)
{
    return mapping_text(reading, at, syntax_resource, &((struct unit_row *)target)->resource);
}

static int read_label(const struct mapping_reading *reading, const struct yaml_value *at,
                      void *target)
{
    return mapping_text(reading, at, syntax_label_pattern, &((struct unit_row *)target)->label);
}

static int read_whole(const struct mapping_reading *reading, const struct yaml_value *at,
                      void *target)
{
    return mapping_text(reading, at, syntax_value_pattern, &((struct unit_row *)target)->whole);
}

static int read_replicas(const struct mapping_reading *reading, const struct yaml_value *at,
                         void *target)
{
    return mapping_text(reading, at, syntax_label_key, &((struct unit_row *)target)->replicas);
}

static const char *check_unit(const char *text)
{
    return text[0] && gpu_label_unit_bytes(text) > 0 ? NULL
                                                     : "a unit of memory: B, Ki, Mi, Gi or Ti";
}

static int read_unit(const struct mapping_reading *reading, const struct yaml_value *at,
                     void *target)
{
    return mapping_text(reading, at, check_unit, &((struct unit_row *)target)->unit);
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

static int read_row(const struct mapping_reading *reading, const struct yaml_value *at)
{
    static const struct mapping_key MEMBERS[] = {{"resource", read_resource}, {"label", read_label},
                                                 {"says", read_says},         {"whole", read_whole},
                                                 {"replicas", read_replicas}, {"unit", read_unit}};
    struct unit_row row = {.whole = "", .replicas = "", .unit = "", .says = N_GPU_LABEL_SAYS};
    const int r = mapping_read(reading, at, MEMBERS, N_OF(MEMBERS), &row);
    if (r < 0)
        return r;
    const char *fault = fault_of(&row);
    if (fault)
        return yaml_fault(reading->file, at, reading->err, "%s", fault);
    policy_add_unit(reading->policy, &(struct gpu_label){row.resource, row.label, row.says,
                                                         row.whole, row.replicas, row.unit});
    return 0;
}

int units_read(const struct yaml_file *file, const struct yaml_value *list, struct policy *policy,
               struct err *err)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const struct mapping_reading reading = {file, policy, arena, err};
    const size_t n = json_array_size(list->value);
    if (!json_is_array(list->value))
        return yaml_wrong(file, list, "a list of rows", err);
    if (n > GPU_LABELS_MAX)
        return yaml_fault(file, list, err, "has %zu rows, should have at most %d", n,
                          GPU_LABELS_MAX);
    policy_clear_units(policy);
    for (size_t i = 0; i < n; i++) {
        struct mapping_spot spot;
        mapping_item(list, i, &spot);
        const int r = read_row(&reading, &spot.at);
        if (r < 0)
            return r;
    }
    return 0;
}
