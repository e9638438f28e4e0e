/*
 * gpu_label: what node labels say of one unit of a GPU resource: how many GPUs there are, whether a
 * unit is a whole GPU, and how much memory it has.
 *
 * The rows are the policy's models.units; a vendor is rows. ledger/gpu_units applies them to a
 * node.
 */
#ifndef TYPES_GPU_LABEL_H
#define TYPES_GPU_LABEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gpu_label_says {
    GPU_LABEL_COUNT,     /* GPUs before sharing; of one model, or of the machine */
    GPU_LABEL_REPLICAS,  /* above 1: the pods that share a GPU */
    GPU_LABEL_STRATEGY,  /* how pods share a GPU */
    GPU_LABEL_PARTITION, /* what GPUs are split into */
    GPU_LABEL_MEMORY,    /* of one unit */
    N_GPU_LABEL_SAYS
};

#define GPU_LABELS_MAX 256

/* Strings are owned by the policy. */
struct gpu_label {
    const char *resource; /* as in gpuResources, also with a final '*' */
    const char *label; /* its key; a '*' stands for any text, or for that of the resource's '*' */
    enum gpu_label_says says;
    const char
        *whole; /* STRATEGY, PARTITION: the value that means whole GPUs, may end in '*'; "" */
    const char *replicas; /* STRATEGY: the key of a label with which 1 means whole GPUs; "": none */
    const char *unit;     /* MEMORY: of a number without one: "B", "Ki", "Mi", "Gi"; "": else */
};

/* The built-in rows, with constant strings. */
extern const struct gpu_label GPU_LABELS[];
extern const size_t N_GPU_LABELS;

/* "count"; NULL past the end. */
const char *gpu_label_says_name(enum gpu_label_says says);
/* Bytes of a unit; 0: it is none. Case, a final B and a missing i do not matter: sizes of memory
 * are powers of two, however they are written. */
int64_t gpu_label_unit_bytes(const char *unit);

/* Whether the key is that of the row for this resource, which the row's pattern matches. */
bool gpu_label_has_key(const struct gpu_label *row, const char *resource, const char *key);
/* The label's own text: its value; of a row whose key ends in '*', the rest of its key. */
const char *gpu_label_value(const struct gpu_label *row, const char *key, const char *value);
/* Whether the value of a strategy or partition means whole GPUs. */
bool gpu_label_is_whole(const struct gpu_label *row, const char *value);

#endif
