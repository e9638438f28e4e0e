/*
 * gpu_model: GPU model names, read into words.
 *
 * A name such as "NVIDIA-A100-SXM4-80GB" is a chip ("A100") and qualifiers: form (SXM4, PCIe, NVL,
 * OAM ...), memory size (80GB) and memory type (HBM3). Brand words (NVIDIA, Tesla, GeForce, AMD,
 * Instinct ...), case and separators (space, '-', '_') do not count. Models are compared by chip as
 * a whole, never by substring: "A10" is not "A100", "RTX-3090" is not "RTX-3090-Ti".
 *
 * A trailing "-SHARED" or "-MIG-1g.5gb" (NVIDIA GPU feature discovery; both: "-MIG-1g.5gb-SHARED")
 * is how the GPU is shared, and no part of the model. What a shared GPU may be used for is not
 * decided here.
 */
#ifndef TYPES_GPU_MODEL_H
#define TYPES_GPU_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPU_MODEL_TEXT_MAX 64

enum gpu_sharing { GPU_WHOLE, GPU_TIME_SHARED, GPU_MIG_SLICED };

/* A value: copied by assignment, compared by the functions below. Strings are canonical. */
struct gpu_model {
    char chip[GPU_MODEL_TEXT_MAX]; /* "A100", "RTX-3090-Ti", "MI300X"; "" = no model at all */
    char form[16];                 /* "SXM4", "PCIe", "SXM6-AC" (two of them); "" = not said */
    char memory_type[16];          /* "HBM3", "HBM2e", "GDDR6" ...; "" = not said */
    int32_t memory_gb;             /* as in the name ("80GB"); 0 = not said */
    enum gpu_sharing sharing;      /* slices that are time-shared too are GPU_MIG_SLICED */
    char mig_profile[24];          /* "1g.5gb", "invalid"; "" where the name does not say */
};

/* A policy alias: a name that is read as another one. Names are compared as words (case, separators
 * do not count), as a whole, brands included; an ending about sharing may follow. An alias to ""
 * says that the name is no model. */
struct gpu_model_alias {
    const char *from;
    const char *to;
};

/* Reads a name. Aliases come first, and are not looked up again in what they give. What is not
 * understood becomes its own chip (and so matches itself only): qualifiers nobody knows are part of
 * the chip, and qualifiers that contradict each other or stand alone are a chip of their own, word
 * for word. False, and an empty chip, where the text names no model: empty, brand words only
 * ("nvidia"), or longer than fits. */
bool gpu_model_parse(const char *text, const struct gpu_model_alias *aliases, size_t n_aliases,
                     struct gpu_model *ret_model);

/* Whether a GPU called `have`, with memory_bytes of memory (0 = only what the name says), is what
 * `want` asks for: equal chip, and every qualifier that want gives is there ("SXM" is any SXM). A
 * memory size that the name of have lacks may come from memory_bytes, if they are within a tenth of
 * each other: a T4 of 16 GB reports 15109 MiB, an L40S of 48 GB 46068. A way of sharing that want
 * names must be there ("T4-SHARED" is no whole T4); where it names none, any will do. */
bool gpu_model_satisfies(const struct gpu_model *have, int64_t memory_bytes,
                         const struct gpu_model *want);

/* The same model by all that is said: chip, form, memory, memory type (not the sharing). */
bool gpu_model_equal(const struct gpu_model *a, const struct gpu_model *b);

/* The canonical text: "A100-SXM4-80GB"; it is read as the same model again. Two models are equal
 * where their texts are. text must hold 128 bytes. Returns text; "" for no model. */
const char *gpu_model_text(const struct gpu_model *model, char *text);

/* Bytes of GPU memory that the name says, 0 if it says none (GB are read as GiB). Of a MIG slice it
 * is the slice's ("1g.5gb"), not the whole GPU's. */
int64_t gpu_model_memory_bytes(const struct gpu_model *model);

/* A GPU passes a minimum with at least 15/16 of it: an A100-40GB reports 39.6 GiB. */
bool gpu_memory_is_enough(int64_t have_bytes, int64_t want_bytes);

#endif
