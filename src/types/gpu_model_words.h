/*
 * gpu_model_words: what the single words of a GPU name mean. This is the table to extend when a
 * vendor invents a new form or memory type; gpu_model.c puts the words together.
 *
 * Words are upper case here; gpu_model_word_spelling() gives them back as people write them.
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
    WORD_CHIP,        /* everything that is not one of the others */
    WORD_FORM,        /* "SXM4", "PCIE" */
    WORD_MEMORY,      /* "80GB" */
    WORD_MEMORY_UNIT, /* "GB" alone: the number is the word before */
    WORD_MEMORY_TYPE, /* "HBM3" */
};

/* The words of text, without those that say nothing (brands); what is written without a separator
 * is taken apart ("RTX3090TI": RTX 3090 TI). False: more or longer words than fit. */
bool gpu_model_words_read(const char *text, struct gpu_model_words *ret_words);

/* Adds a word at the end; a number goes to the letters that it belongs to ("A", "100": A100).
 * False: does not fit. */
bool gpu_model_words_add_chip(struct gpu_model_words *chip, const char *word);

enum gpu_model_word_kind gpu_model_word_kind(const char *word);
/* "80GB", "80": 80; 0 where the word is no size of memory. */
int32_t gpu_model_word_size(const char *word);
/* "TI": "Ti", "PCIE": "PCIe"; the word itself where no other spelling is known. */
const char *gpu_model_word_spelling(const char *word);
/* The place of a form in the order in which forms are written, -1 for other words. */
int gpu_model_word_form(const char *word);
/* The form at that place; NULL past the last. */
const char *gpu_model_word_form_at(int place);

/* Another name of the same chip: "RTX-A6000" for "A6000"; chip itself where there is none. */
const char *gpu_model_words_same_chip(const char *chip);

/* What follows name in text, if text begins with name as whole words (whatever the case and the
 * separators) and name says anything at all; NULL otherwise. */
const char *gpu_model_words_after(const char *text, const char *name);

#endif
