/* nearest: Levenshtein distance, computed row by row. See nearest.h. */
#include "base/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>

/* Longer than any known word. */
#define WORD_LEN_MAX 40

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static size_t least(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

static size_t distance(const char *a, const char *b, size_t b_len)
{
    size_t row[WORD_LEN_MAX + 1];
    for (size_t j = 0; j <= b_len; j++)
        row[j] = j;
    for (; *a; a++) {
        size_t diagonal = row[0]++;
        for (size_t j = 1; j <= b_len; j++) {
            size_t replaced = diagonal + (same_letter(*a, b[j - 1]) ? 0 : 1);
            diagonal = row[j];
            row[j] = least(row[j] + 1, row[j - 1] + 1, replaced);
        }
    }
    return row[b_len];
}

/* Reads WORD_LEN_MAX + 1 characters at most. gcc 14 warns of strnlen() with a bound beyond an
 * array, even if the array has a whole string. */
static size_t bounded_len(const char *word)
{
    size_t len = 0;
    while (len <= WORD_LEN_MAX && word[len])
        len++;
    return len;
}

size_t nearest_distance(const char *a, const char *b)
{
    size_t a_len = bounded_len(a);
    size_t b_len = bounded_len(b);
    if (a_len > WORD_LEN_MAX || b_len > WORD_LEN_MAX)
        return SIZE_MAX;
    const size_t most = 1 + b_len / 4;
    if (a_len > b_len + most || b_len > a_len + most)
        return SIZE_MAX;
    size_t d = distance(a, b, b_len);
    return d <= most ? d : SIZE_MAX;
}
