/*
 * gpu_model: parses GPU model names.
 *
 * A name such as "NVIDIA-A100-SXM4-80GB" is a chip ("A100") and qualifiers: form (SXM4, PCIe, NVL,
 * OAM ...), memory size (80GB) and memory type (HBM3). Brand words (NVIDIA, Tesla, GeForce, AMD,
 * Instinct ...), case and separators (space, '-', '_') do not count. Models are compared by whole
 * chip, never by substring: "A10" is not "A100", "RTX-3090" is not "RTX-3090-Ti".
 *
 * A trailing "-SHARED" or "-MIG-1g.5gb" (NVIDIA GPU feature discovery; both: "-MIG-1g.5gb-SHARED")
 * is the kind of sharing, not part of the model. ledger/admit.h decides what a shared GPU may be
 * used for.
 */
#ifndef TYPES_GPU_MODEL_H
#define TYPES_GPU_MODEL_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPU_MODEL_TEXT_MAX 64

/* PARTITIONED: parts of another vendor than NVIDIA; no name says it, but labels of nodes. */
enum gpu_sharing { GPU_WHOLE, GPU_TIME_SHARED, GPU_MIG_SLICED, GPU_PARTITIONED };

/* A value: copied by assignment, compared by the functions below. Strings are canonical. */
struct gpu_model {
    char chip[GPU_MODEL_TEXT_MAX]; /* "A100", "RTX-3090-Ti", "MI300X"; "": no model */
    char form[16];                 /* "SXM4", "PCIe", "SXM6-AC" (two of them); "": not given */
    char memory_type[16];          /* "HBM3", "HBM2e", "GDDR6" ...; "": not given */
    int32_t memory_gb;             /* as in the name ("80GB"); 0: not given */
    enum gpu_sharing sharing;      /* time-shared slices are GPU_MIG_SLICED */
    char mig_profile[24];          /* "1g.5gb", "invalid", "cpx_nps4"; "": not given */
};

/* A policy alias: a name that is read as another one. Names are compared word by word (case and
 * separators do not count), in full, brands included; a suffix about sharing may follow. An alias
 * to "" means that the name is no model. */
struct gpu_model_alias {
    const char *from;
    const char *to;
};

/* Whether two aliases are read as one: equal words. */
bool gpu_model_alias_equal(const char *a, const char *b);

/* Parses a name. Aliases apply first, and only once. Unknown text becomes a chip of its own, which
 * matches only itself: unknown qualifiers are part of the chip; qualifiers that contradict each
 * other or stand alone become a chip, word for word. Returns false and an empty chip if the text
 * names no model: empty, brand words only ("nvidia"), or too long. */
bool gpu_model_parse(const char *text, const struct gpu_model_alias *aliases, size_t n_aliases,
                     struct gpu_model *ret_model);

/* Whether a GPU `have` with memory_bytes of memory (0: only as the name gives) satisfies `want`:
 * equal chip, and every qualifier of want ("SXM" is any SXM). A memory size missing in the name of
 * have may come from memory_bytes, within a tenth: a T4 of 16 GB reports 15109 MiB, an L40S of 48
 * GB 46068. A kind of sharing in want must match ("T4-SHARED" is no whole T4); without one, any
 * does. */
bool gpu_model_satisfies(const struct gpu_model *have, int64_t memory_bytes,
                         const struct gpu_model *want);

/* A model on a node. */
struct gpu_model_there {
    struct gpu_model model;
    int64_t memory_bytes; /* 0: unknown */
};

/* Guesses which of the n models was meant by a request that none of them satisfies: "H10O" is H100,
 * "2080Ti" is RTX-2080-Ti. Words are compared, and their digits must be equal: "H200" is no H100.
 * If several models of one chip are as near, *ret_model has what they have in common, and the
 * qualifiers of the request. False: none is near, or two chips are as near. */
bool gpu_model_nearest(const struct gpu_model *want, const struct gpu_model_there *there, size_t n,
                       struct gpu_model *ret_model);

/* Which of the n models may be meant by an exclusion that none of them satisfies and that has the
 * last digit once more: "A1000" where there is an A100. Nobody notices such an exclusion, while a
 * request for such a model is rejected. NULL: none. */
const struct gpu_model *gpu_model_with_fewer_digits(const struct gpu_model *want,
                                                    const struct gpu_model_there *there, size_t n);

/* Equal chip, form, memory and memory type; sharing is ignored. */
bool gpu_model_equal(const struct gpu_model *a, const struct gpu_model *b);

/* The canonical text: "A100-SXM4-80GB"; parsing it returns the same model. Models are equal if and
 * only if their texts are. text must have 128 bytes and is returned; "" for no model. */
const char *gpu_model_text(const struct gpu_model *model, char *text);

/* The same with the kind of sharing, in the arena: "A100-SXM4-80GB", "T4-SHARED",
 * "A100-MIG-1g.5gb". */
const char *gpu_model_name(const struct gpu_model *model, struct arena *arena);
/* The kind of sharing: "SHARED", "MIG-1g.5gb", "PARTITION-cpx_nps4"; "": none. */
const char *gpu_model_sharing(const struct gpu_model *model, struct arena *arena);

/* Bytes of GPU memory in the name, 0 if none (GB count as GiB). For a MIG slice ("1g.5gb") the
 * slice's, not the whole GPU's. */
int64_t gpu_model_memory_bytes(const struct gpu_model *model);

/* The memory of a chip that is made with one size only, whose name leaves it out ("T4"); 0:
 * unknown. A label that says more is wrong; a virtual GPU may have less. */
int64_t gpu_model_most_memory_bytes(const struct gpu_model *model);

/* A GPU meets a minimum with at least 92 % of it: a vendor's GB is 93 % of a GiB, and a GPU of 48
 * GiB reports 45. */
bool gpu_memory_is_enough(int64_t have_bytes, int64_t want_bytes);

/* Who makes a GPU model, by the domain of the vendor's resources and labels: "nvidia.com" of
 * "nvidia-l4" and "A100"; "": unknown. */
const char *gpu_vendor_of_model(const char *name);
/* Whether a resource's domain is the vendor's: "intel.com" has "gpu.intel.com". "" has none. */
bool gpu_vendor_has(const char *vendor, const char *domain);

/* ---- gpu worth ---- */
/* The order in which people see GPU models: the most wanted first. Memory or speed alone would
 * put an L4 before an A100, so it is a list. */

/* The place of a model by its name, with a suffix about sharing or without; shares and slices come
 * right after whole GPUs. 0: not in the list, as it is most likely newer. GPU_WORTH_NONE: "" or no
 * model. */
size_t gpu_worth(const char *model);
#define GPU_WORTH_NONE ((size_t)-1)

#endif
