/*
 * gpu_model_words: the meaning of single words in GPU names. Extend this table when a vendor
 * introduces a new form or memory type; gpu_model.c combines the words.
 *
 * Words are upper case here; gpu_model_word_spelling() returns the usual spelling.
 */
#ifndef TYPES_GPU_MODEL_WORDS_H
#define TYPES_GPU_MODEL_WORDS_H

#include "types/gpu_model.h"

#define GPU_MODEL_WORDS_MAX 32

struct gpu_model_words {
    size_t n;
    char words[GPU_MODEL_WORDS_MAX][GPU_MODEL_TEXT_MAX];
};

enum gpu_model_word_kind {
    WORD_CHIP,        /* any other word */
    WORD_FORM,        /* "SXM4", "PCIE" */
    WORD_MEMORY,      /* "80GB" */
    WORD_MEMORY_UNIT, /* "GB" alone: the word before it is the number */
    WORD_MEMORY_TYPE, /* "HBM3" */
};

/* Splits text into words and drops brands. Words without separators are split too ("RTX3090TI": RTX
 * 3090 TI). False: more or longer words than fit. */
bool gpu_model_words_read(const char *text, struct gpu_model_words *ret_words);

/* Appends a word; a number joins the letters before it ("A", "100": A100). False: does not fit. */
bool gpu_model_words_add_chip(struct gpu_model_words *chip, const char *word);

enum gpu_model_word_kind gpu_model_word_kind(const char *word);
/* "80GB", "80": 80; 0 if the word is no memory size. */
int32_t gpu_model_word_size(const char *word);
/* "TI": "Ti", "PCIE": "PCIe"; the word itself if it has no other spelling. */
const char *gpu_model_word_spelling(const char *word);
/* Index of a form in writing order; -1 for other words. */
int gpu_model_word_form(const char *word);
/* It is a form only behind the chip's number: "V100-N", but "H 100". */
bool gpu_model_word_is_late_form(const char *word);
/* The form at that index; NULL past the last. */
const char *gpu_model_word_form_at(int place);

/* A word that does not distinguish models ("NVIDIA", "GPU"), in capitals; NULL past the last. */
const char *gpu_model_word_brand_at(int place);
/* A family ("RTX"), in capitals; NULL past the last. */
const char *gpu_model_word_family_at(int place);

/* Whether the word behind a chip makes another chip of it: "Ti", "D"; unknown words may not. */
bool gpu_model_word_makes_another(const char *word);
/* Whether one of the chips is the other's name without its letter: "MI300" and "MI300X". */
bool gpu_model_words_are_near(const char *a, const char *b);

/* Canonical name of the chip: "RTX-A6000" for "A6000"; else chip itself. */
const char *gpu_model_words_same_chip(const char *chip);

/* The rest of text after name, if text begins with name as whole words, ignoring case and
 * separators. NULL otherwise, or if name has no words. */
const char *gpu_model_words_after(const char *text, const char *name);

#endif
