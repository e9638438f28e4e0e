/*
 * words: eight bytes of a text at a time. Only within its length.
 */
#ifndef BASE_WORDS_H
#define BASE_WORDS_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define WORD_ONES UINT64_C(0x0101010101010101)

/* The first byte is the lowest. */
static inline uint64_t word_at(const char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return le64toh(word);
}

/* Sets the top bit of each byte that is a quote, a backslash, a control character of JSON or not
 * ASCII; exact up to the lowest such byte. */
static inline uint64_t word_specials(uint64_t word)
{
    uint64_t quote = word ^ (WORD_ONES * '"');
    uint64_t backslash = word ^ (WORD_ONES * '\\');
    /* Of ASCII only a byte below what is subtracted gets a top bit, or borrows from the next. */
    uint64_t found =
        (quote - WORD_ONES) | (backslash - WORD_ONES) | (word - WORD_ONES * 0x20) | word;
    return found & (WORD_ONES * 0x80);
}

/* memcpy(), without a call for eight to sixteen bytes: two words, which may overlap. */
static inline void words_copy(char *to, const char *from, size_t len)
{
    if (len - sizeof(uint64_t) > sizeof(uint64_t)) {
        memcpy(to, from, len);
        return;
    }
    const size_t last = len - sizeof(uint64_t);
    memcpy(to, from, sizeof(uint64_t));
    memcpy(to + last, from + last, sizeof(uint64_t));
}

#endif
