/* trace: see trace.h. */
#include "trace.h"
#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_FIELDS_MAX 16
#define MODEL_LABEL "accelerator"
#define MIB (INT64_C(1) << 20)
#define N_MODELS_MAX 8

struct row {
    char *fields[N_FIELDS_MAX];
    size_t n;
};

typedef int take_row(void *context, const struct row *row, struct arena *arena, struct err *err);

static const char *field(const struct row *row, size_t i)
{
    return i < row->n ? row->fields[i] : "";
}

static struct row split(char *line)
{
    struct row row = {.n = 0};
    line[strcspn(line, "\r\n")] = '\0';
    char *rest = line;
    while (rest && row.n < N_FIELDS_MAX)
        row.fields[row.n++] = strsep(&rest, ",");
    return row;
}

/* The first line has the column names. */
static int read_rows(const char *path, size_t n_fields_min, take_row *take, void *context,
                     struct arena *arena, struct err *err)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return err_set(err, errno, "%s: %s", path, strerror(errno));
    char *line = NULL;
    size_t size = 0;
    int r = 0;
    for (size_t number = 1; r == 0 && getline(&line, &size, file) >= 0; number++) {
        struct row row = split(line);
        if (number == 1)
            continue;
        if (row.n < n_fields_min)
            r = err_set(err, EINVAL, "%s:%zu: %zu fields, should be at least %zu", path, number,
                        row.n, n_fields_min);
        else
            r = take(context, &row, arena, err);
    }
    free(line);
    (void)fclose(file);
    return r;
}

static struct amount *amounts_of(struct arena *arena, int64_t milli_cores, int64_t memory_bytes,
                                 int64_t gpus, int64_t pods, size_t *ret_n)
{
    const struct amount all[] = {
        {"cpu", milli_cores}, {"memory", memory_bytes}, {"nvidia.com/gpu", gpus}, {"pods", pods}};
    struct amount *amounts = ARENA_ARRAY(arena, struct amount, 4);
    *ret_n = 0;
    for (size_t i = 0; i < 4; i++) {
        if (all[i].amount > 0)
            amounts[(*ret_n)++] = all[i];
    }
    return amounts;
}

/* sn,cpu_milli,memory_mib,gpu,model */
static int take_node(void *context, const struct row *row, struct arena *arena, struct err *err)
{
    (void)err;
    struct trace *trace = context;
    trace->nodes = mem_grow(trace->nodes, trace->n_nodes + 1, sizeof *trace->nodes);
    struct node_facts *node = &trace->nodes[trace->n_nodes++];
    const int64_t gpus = strtoll(field(row, 3), NULL, 10);
    *node = (struct node_facts){.name = arena_strdup(arena, field(row, 0)), .ready = true};
    node->capacity =
        amounts_of(arena, strtoll(field(row, 1), NULL, 10), strtoll(field(row, 2), NULL, 10) * MIB,
                   gpus, 1000, &node->n_capacity);
    struct label *label = ARENA_NEW(arena, struct label);
    *label = (struct label){MODEL_LABEL, arena_strdup(arena, field(row, 4))};
    node->labels = label;
    node->n_labels = 1;
    trace->n_gpus += gpus;
    return 0;
}

/* As a required node affinity: the trace has no preferences among models. */
static struct node_selector models_of(struct arena *arena, const char *models)
{
    if (!models[0])
        return (struct node_selector){0};
    const char **values = ARENA_ARRAY(arena, const char *, N_MODELS_MAX);
    size_t n_values = 0;
    char *rest = arena_strdup(arena, models);
    while (rest && n_values < N_MODELS_MAX)
        values[n_values++] = strsep(&rest, "|");
    struct requirement *requirement = ARENA_NEW(arena, struct requirement);
    *requirement = (struct requirement){
        .key = MODEL_LABEL, .op = SELECTOR_IN, .values = values, .n_values = n_values};
    struct selector_term *term = ARENA_NEW(arena, struct selector_term);
    *term = (struct selector_term){requirement, 1};
    return (struct node_selector){true, term, 1};
}

static double duration_of(const struct row *row)
{
    const char *begin = field(row, 10);
    const char *end = field(row, 9);
    if (!begin[0] || !end[0])
        return -1;
    const double seconds = strtod(end, NULL) - strtod(begin, NULL);
    return seconds > 0 ? seconds : -1;
}

/* name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,
 * scheduled_time; some variants end after gpu_milli */
static int take_pod(void *context, const struct row *row, struct arena *arena, struct err *err)
{
    (void)err;
    struct trace *trace = context;
    trace->pods = mem_grow(trace->pods, trace->n_pods + 1, sizeof *trace->pods);
    struct trace_pod *pod = &trace->pods[trace->n_pods++];
    *pod = (struct trace_pod){.milli_cores = strtoll(field(row, 1), NULL, 10),
                              .memory_bytes = strtoll(field(row, 2), NULL, 10) * MIB,
                              .gpus = strtoll(field(row, 3), NULL, 10),
                              .models = arena_strdup(arena, field(row, 5)),
                              .duration_s = duration_of(row)};
    pod->shape.demand =
        amounts_of(arena, pod->milli_cores, pod->memory_bytes, pod->gpus, 1, &pod->shape.n_demand);
    pod->shape.affinity = models_of(arena, pod->models);
    return 0;
}

int trace_read(const char *folder, const char *variant, struct arena *arena,
               struct trace *ret_trace, struct err *err)
{
    struct trace trace = {0};
    int r = read_rows(arena_printf(arena, "%s/openb_node_list_gpu_node.csv", folder), 5, take_node,
                      &trace, arena, err);
    if (r == 0)
        r = read_rows(arena_printf(arena, "%s/openb_pod_list_%s.csv", folder, variant), 5, take_pod,
                      &trace, arena, err);
    if (r < 0) {
        free(trace.nodes);
        free(trace.pods);
        return r;
    }
    *ret_trace = trace;
    return 0;
}
