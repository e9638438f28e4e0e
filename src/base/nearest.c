/* nearest: Levenshtein distance, computed row by row. See nearest.h. */
#include "base/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

/* Longer than any known word. */
#define WORD_LEN_MAX 48
/* The longest name of Kubernetes: a label key or a resource, with its domain. */
#define NAME_LEN_MAX 317

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

static size_t n_alike(const char *a, const char *b)
{
    size_t n = 0;
    while (a[n] && same_letter(a[n], b[n]))
        n++;
    return n;
}

bool nearest_try(struct nearest *nearest, const char *known)
{
    const size_t d = nearest_distance(nearest->asked, known);
    if (d > nearest->least || d == SIZE_MAX)
        return false;
    const size_t n = n_alike(nearest->asked, known);
    if (d == nearest->least && n <= nearest->n_alike)
        return false;
    nearest->n_alike = n;
    nearest->least = d;
    nearest->found = known;
    return true;
}

static char fold(char c)
{
    switch (tolower((unsigned char)c)) {
    case 'o':
        return '0';
    case 'i':
    case 'l':
        return '1';
    default:
        return (char)tolower((unsigned char)c);
    }
}

static bool is_separator(char c)
{
    return c != '\0' && !isalnum((unsigned char)c);
}

/* Ignores separators, case, and O for 0, I and L for 1. */
static bool same_without_separators(const char *a, const char *b)
{
    for (;;) {
        while (is_separator(*a))
            a++;
        while (is_separator(*b))
            b++;
        if (*a == '\0' || *b == '\0')
            return *a == *b;
        if (fold(*a++) != fold(*b++))
            return false;
    }
}

/* Reads the next word that is not "com". False: there is none, or it is too long. */
static bool next_word(const char **text, char word[WORD_LEN_MAX + 1])
{
    do {
        size_t len = 0;
        while (is_separator(**text))
            (*text)++;
        for (; isalnum((unsigned char)**text) && len < WORD_LEN_MAX; (*text)++)
            word[len++] = (char)tolower((unsigned char)**text);
        word[len] = '\0';
    } while (strcmp(word, "com") == 0);
    return word[0] != '\0' && !isalnum((unsigned char)**text);
}

static size_t n_shared_words(const char *asked, const char *known)
{
    char words[2][WORD_LEN_MAX + 1];
    size_t n = 0;
    while (next_word(&asked, words[0])) {
        bool is_shared = false;
        for (const char *rest = known; !is_shared && next_word(&rest, words[1]);)
            is_shared = strcmp(words[0], words[1]) == 0;
        n += is_shared;
    }
    return n;
}

size_t nearest_rank(const char *asked, const char *known)
{
    const size_t d = nearest_distance(asked, known);
    return d != SIZE_MAX ? d : (size_t)2 * NAME_LEN_MAX - n_shared_words(asked, known);
}

static bool is_swap(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return a[0] && a[1] && a[0] == b[1] && a[1] == b[0] && strcmp(a + 2, b + 2) == 0;
}

/* Numbers are never typing errors, nor are differences in short words: "gpu" and "cpu". */
static bool is_word_typo(const char *a, const char *b)
{
    const size_t a_len = strlen(a);
    const size_t b_len = strlen(b);
    const size_t longer = a_len > b_len ? a_len : b_len;
    if (same_without_separators(a, b))
        return true;
    if (longer < 4 || strpbrk(a, "0123456789") || strpbrk(b, "0123456789"))
        return false;
    const size_t d = nearest_distance(a, b);
    return d <= 1 || (d == 2 && (longer > 6 || is_swap(a, b)));
}

bool nearest_is_typo(const char *asked, const char *known)
{
    char words[2][WORD_LEN_MAX + 1];
    if (strnlen(asked, NAME_LEN_MAX + 1) > NAME_LEN_MAX ||
        strnlen(known, NAME_LEN_MAX + 1) > NAME_LEN_MAX)
        return false;
    if (same_without_separators(asked, known))
        return true;
    for (;;) {
        const bool has_asked = next_word(&asked, words[0]);
        const bool has_known = next_word(&known, words[1]);
        if (!has_asked || !has_known)
            return has_asked == has_known && *asked == '\0' && *known == '\0';
        if (!is_word_typo(words[0], words[1]))
            return false;
    }
}

/* "mem" for "memory", "nvidia" for "nvidia.com/gpu". */
static bool is_beginning(const char *asked, const char *known)
{
    const size_t len = strlen(asked);
    return len >= 3 && strncasecmp(asked, known, len) == 0;
}

/* "gpu" and "gpus" for "nvidia.com/gpu". */
static bool is_without_domain(const char *asked, const char *known)
{
    const char *slash = strchr(known, '/');
    const size_t len = slash ? strlen(slash + 1) : 0;
    return slash && !strchr(asked, '/') && strncasecmp(asked, slash + 1, len) == 0 &&
           (asked[len] == '\0' || strcasecmp(asked + len, "s") == 0);
}

/* "nvidia.con/gpu": one or two letters of a long name, and no digit. */
static bool is_slip(const char *asked, const char *known)
{
    static const char DIGITS[] = "0123456789";
    if (bounded_len(known) < 12 || nearest_distance(asked, known) > 2)
        return false;
    for (;; asked++, known++) {
        asked += strcspn(asked, DIGITS);
        known += strcspn(known, DIGITS);
        if (*asked != *known || !*asked)
            return *asked == *known;
    }
}

bool nearest_is_resource(const char *asked, const char *known)
{
    return is_without_domain(asked, known) || is_beginning(asked, known) ||
           nearest_is_typo(asked, known) || is_slip(asked, known);
}
