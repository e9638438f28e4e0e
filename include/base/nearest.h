/*
 * nearest: the distance between two words, for "did you mean ...?".
 */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/* The number of characters to add, drop or replace to turn one word into the other, ignoring case.
 * SIZE_MAX if that is too many for a typing error. */
size_t nearest_distance(const char *a, const char *b);

/* How far two names of any kind are apart, to put the known ones in order: typing errors first, by
 * that distance, then those that share most words. */
size_t nearest_rank(const char *asked, const char *known);

/* The search for the known word that is nearest to one. Start with {.asked = word, .least =
 * SIZE_MAX}. */
struct nearest {
    const char *asked;
    const char *found; /* NULL: none is near. The caller may replace it by a longer form. */
    size_t least;      /* its distance */
    size_t n_alike;    /* letters at the beginning that it shares with the word */
};

/* Returns whether the known word, which is borrowed, is the nearest so far. Of equally near ones,
 * the one with the longest common beginning is kept, then the first. */
bool nearest_try(struct nearest *nearest, const char *known);

/* Whether a name was probably meant to be the known one. Compares word by word, without case: words
 * with digits must be equal, except O for 0 and I or L for 1; words of four letters and more may
 * have a typing error. Separators and the word "com" do not count. */
bool nearest_is_typo(const char *asked, const char *known);

/* The same for names of resources: also "gpu", "nvidia" and "nvidia.con/gpu" for
 * "nvidia.com/gpu". */
bool nearest_is_resource(const char *asked, const char *known);

#endif
