/*
 * gpu_model_nearest: see include/types/gpu_model.h.
 *
 * A candidate matches if the asked chip is made of its words. All words of its chip are needed:
 * "RTX-3090" is no typing error of "RTX-3090-Ti", nor "L40" of "L40S". So the digits must be equal,
 * except that O counts as 0, and I and L as 1. Each other difference costs something.
 */
#include "types/gpu_model.h"

#include "gpu_model_words.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define COST_OF_CONFUSED 1 /* O for 0, I or L for 1: each letter */
#define COST_OF_BRAND 1    /* a brand that is joined, or a family that is missing or wrong */
#define COST_OF_TYPO 2
#define COST_OF_EXTRA 3 /* an unknown word behind the chip: "V100-OEM" */
#define COST_MAX 4

/* A chip has 32 words at most, a form 8. */
#define WORDS_MAX 48
/* Bounds the search, whose text tenants write. */
#define STEPS_MAX 200

/* A word of the candidate. */
struct known_word {
    char text[GPU_MODEL_TEXT_MAX]; /* in capitals */
    bool is_chip;                  /* else a qualifier, which may be left out */
    bool is_extra;                 /* of the chip, behind its number, and unknown */
    bool is_used;
};

struct matching {
    struct known_word words[WORDS_MAX];
    size_t n;
    bool has_number;      /* a word of the chip has digits, so its family may differ */
    const char *families; /* left out of the text, which begins there; NULL: none */
    size_t steps_left;
    int cost;
};

static bool has_digit(const char *text)
{
    return strpbrk(text, "0123456789") != NULL;
}

static void add_word(struct matching *matching, const char *text, size_t len, bool is_chip)
{
    if (len == 0 || len >= GPU_MODEL_TEXT_MAX || matching->n == WORDS_MAX)
        return;
    struct known_word *word = &matching->words[matching->n++];
    for (size_t i = 0; i < len; i++)
        word->text[i] = (char)toupper((unsigned char)text[i]);
    word->text[len] = '\0';
    word->is_chip = is_chip;
    word->is_extra = is_chip && matching->has_number && !gpu_model_word_makes_another(word->text);
    word->is_used = false;
    matching->has_number = matching->has_number || (is_chip && has_digit(word->text));
}

/* The words of "RTX-3090-Ti". */
static void add_words(struct matching *matching, const char *text, bool is_chip)
{
    for (size_t len; *text; text += len, text += *text == '-') {
        len = strcspn(text, "-");
        add_word(matching, text, len, is_chip);
    }
}

/* "SXM" is any SXM4. */
static void add_form(struct matching *matching, const char *form)
{
    size_t len = strcspn(form, "-");
    add_words(matching, form, false);
    while (len > 0 && isdigit((unsigned char)form[len - 1]))
        len--;
    add_word(matching, form, len, false);
}

/* A size counts with its unit and without: "A100-80" is no known size. */
static void add_size(struct matching *matching, int32_t gb)
{
    char text[16];
    if (gb == 0)
        return;
    (void)snprintf(text, sizeof text, "%dGB", gb);
    add_word(matching, text, strlen(text), false);
    add_word(matching, text, strlen(text) - strlen("GB"), false);
}

static char fold(char c)
{
    switch (c) {
    case 'O':
        return '0';
    case 'I':
    case 'L':
        return '1';
    default:
        return c;
    }
}

/* The length of the word if text begins with it, else 0. */
static size_t length_at(const char *text, const char *word, int *ret_n_confused)
{
    size_t len = 0;
    int n = 0;
    for (; word[len]; len++) {
        if (fold(text[len]) != fold(word[len]))
            return 0;
        n += text[len] != word[len];
    }
    *ret_n_confused = n;
    return len;
}

static bool is_same(const char *text, const char *word)
{
    int n = 0;
    const size_t len = length_at(text, word, &n);
    return len > 0 && text[len] == '\0';
}

/* TITAN is no such family: "TITAN-X" and "GTX-TITAN-X" are different chips. */
static const char *family_at(int place)
{
    const char *family = gpu_model_word_family_at(place);
    return family && strcmp(family, "TITAN") == 0 ? "" : family;
}

static bool is_family(const char *word)
{
    const char *family = NULL;
    for (int i = 0; (family = family_at(i)) != NULL; i++)
        if (strcmp(word, family) == 0)
            return true;
    return false;
}

/* "GTX-580" is NVIDIA's, "RX-580" AMD's. */
static bool is_family_of_amd(const char *text)
{
    return strncmp(text, "RX", 2) == 0 || strncmp(text, "WX", 2) == 0;
}

/* The length of the longest word at text; 0 if there is none. */
static size_t longest_at(const char *text, const char *(*word_at)(int place))
{
    size_t longest = 0;
    const char *word = NULL;
    for (int i = 0; (word = word_at(i)) != NULL; i++) {
        const size_t len = strlen(word);
        if (len > longest && strncmp(text, word, len) == 0)
            longest = len;
    }
    return longest;
}

/* The length of the longest brand at text; 0 if there is none. */
static size_t brand_length(const char *text, bool with_families)
{
    const size_t brand = longest_at(text, gpu_model_word_brand_at);
    const size_t family = with_families ? longest_at(text, family_at) : 0;
    return brand > family ? brand : family;
}

/* Whether a chip of this family may be meant by a text with another or no family. */
static bool may_replace_family(const struct matching *matching, const char *family)
{
    return !matching->families || is_family_of_amd(matching->families) == is_family_of_amd(family);
}

/* Whether all words of the chip are used. Adds the cost of a missing family. */
static bool is_complete(struct matching *matching)
{
    int cost = 0;
    for (size_t i = 0; i < matching->n; i++) {
        const struct known_word *word = &matching->words[i];
        if (!word->is_chip || word->is_used)
            continue;
        if (word->is_extra) {
            cost += COST_OF_EXTRA;
            continue;
        }
        if (!matching->has_number || !is_family(word->text) ||
            !may_replace_family(matching, word->text))
            return false;
        cost += COST_OF_BRAND;
    }
    matching->cost += cost;
    return true;
}

static bool match(struct matching *matching, const char *text);

/* Leaves out a brand or a family of len bytes at the start of text. */
static bool match_without(struct matching *matching, const char *text, size_t len)
{
    const char *families = matching->families;
    if (matching->has_number && longest_at(text, family_at) == len)
        matching->families = text;
    matching->cost += COST_OF_BRAND;
    if (match(matching, text + len))
        return true;
    matching->cost -= COST_OF_BRAND;
    matching->families = families;
    return false;
}

static bool match_word(struct matching *matching, struct known_word *word, const char *text)
{
    int n_confused = 0;
    const size_t len = word->is_used ? 0 : length_at(text, word->text, &n_confused);
    if (len == 0)
        return false;
    word->is_used = true;
    matching->cost += n_confused * COST_OF_CONFUSED;
    if (match(matching, text + len))
        return true;
    word->is_used = false;
    matching->cost -= n_confused * COST_OF_CONFUSED;
    return false;
}

/* Whether text, without separators, is made of the candidate's words and of brands. */
static bool match(struct matching *matching, const char *text)
{
    if (*text == '\0')
        return is_complete(matching);
    if (matching->steps_left == 0)
        return false;
    matching->steps_left--;
    for (size_t i = 0; i < matching->n; i++)
        if (match_word(matching, &matching->words[i], text))
            return true;
    const size_t len = brand_length(text, matching->has_number);
    return len > 0 && match_without(matching, text, len);
}

static bool is_alphabetic(const char *text)
{
    for (; *text; text++)
        if (!isalpha((unsigned char)*text))
            return false;
    return true;
}

/* "SMX4" for "SXM4": two adjacent letters. a and b begin where they differ. */
static bool is_swap(const char *a, const char *b)
{
    return isalpha((unsigned char)a[0]) && isalpha((unsigned char)a[1]) && a[0] == b[1] &&
           a[1] == b[0] && strcmp(a + 2, b + 2) == 0;
}

/* One letter more, fewer or other in a word of four letters, or two letters swapped. Digits stay,
 * and shorter words are too close to each other: "XT" and "XTX". */
static bool is_typo(const char *a, const char *b)
{
    const size_t a_len = strlen(a);
    const size_t b_len = strlen(b);
    size_t same = 0;
    while (a[same] && a[same] == b[same])
        same++;
    if (a_len == b_len && a_len >= 3 && a[same] && is_swap(a + same, b + same))
        return true;
    const size_t shorter = a_len < b_len ? a_len : b_len;
    const size_t longer = a_len < b_len ? b_len : a_len;
    if (longer < 4 || longer - shorter > 1 || !is_alphabetic(a) || !is_alphabetic(b))
        return false;
    return strcmp(a + same + (a_len == longer), b + same + (b_len == longer)) == 0;
}

/* The word that was probably meant: "" for a brand, the word itself if it is known or near none. */
static const char *meant_by(const struct matching *matching, const char *word)
{
    const char *brand = NULL;
    for (size_t i = 0; i < matching->n; i++)
        if (is_same(word, matching->words[i].text))
            return word;
    for (size_t i = 0; i < matching->n; i++)
        if (is_typo(word, matching->words[i].text))
            return matching->words[i].text;
    for (int i = 0; (brand = gpu_model_word_brand_at(i)) != NULL; i++)
        if (is_typo(word, brand))
            return "";
    return word;
}

/* The asked chip in capitals, without separators and typing errors. False: does not fit. */
static bool write_meant(struct matching *matching, const char *chip, char *text, size_t size)
{
    char word[GPU_MODEL_TEXT_MAX];
    size_t used = 0;
    for (size_t len; *chip; chip += len, chip += *chip == '-') {
        len = strcspn(chip, "-");
        for (size_t i = 0; i < len; i++)
            word[i] = (char)toupper((unsigned char)chip[i]);
        word[len] = '\0';
        const char *meant = meant_by(matching, word);
        matching->cost += strcmp(meant, word) == 0 ? 0 : COST_OF_TYPO;
        const size_t n = strlen(meant);
        if (used + n >= size)
            return false;
        memcpy(text + used, meant, n);
        used += n;
    }
    text[used] = '\0';
    return true;
}

/* Whether the rest of the request, besides the chip, is satisfied. */
static bool has_qualifiers(const struct gpu_model_there *there, const struct gpu_model *want)
{
    struct gpu_model same_chip = *want;
    memcpy(same_chip.chip, there->model.chip, sizeof same_chip.chip);
    return gpu_model_satisfies(&there->model, there->memory_bytes, &same_chip);
}

/* How far the candidate is from the request; more than COST_MAX: not near. */
static int cost_of(const struct gpu_model_there *there, const struct gpu_model *want)
{
    struct matching matching;
    char text[2 * GPU_MODEL_TEXT_MAX];
    matching.n = 0;
    matching.has_number = false;
    matching.families = NULL;
    matching.steps_left = STEPS_MAX;
    matching.cost = 0;
    if (!has_qualifiers(there, want))
        return COST_MAX + 1;
    if (gpu_model_words_are_near(there->model.chip, want->chip))
        return COST_OF_TYPO;
    add_words(&matching, there->model.chip, true);
    add_form(&matching, there->model.form);
    add_words(&matching, there->model.memory_type, false);
    add_size(&matching, there->model.memory_gb);
    if (!write_meant(&matching, want->chip, text, sizeof text) || !match(&matching, text))
        return COST_MAX + 1;
    return matching.cost;
}

/* Keeps the qualifiers that both have, and those of the request, which both satisfy. */
static void keep_common(struct gpu_model *model, const struct gpu_model *other,
                        const struct gpu_model *want)
{
    if (strcmp(model->form, other->form) != 0)
        memcpy(model->form, want->form, sizeof model->form);
    if (strcmp(model->memory_type, other->memory_type) != 0)
        memcpy(model->memory_type, want->memory_type, sizeof model->memory_type);
    if (model->memory_gb != other->memory_gb)
        model->memory_gb = want->memory_gb;
}

/* Whether a is b with its last character once more, behind at least three digits of b. */
static bool has_one_more(const char *a, const char *b)
{
    const size_t len = strlen(b);
    return len >= 3 && strlen(a) == len + 1 && strncmp(a, b, len) == 0 && a[len] == b[len - 1] &&
           strspn(b + len - 3, "0123456789") == 3;
}

const struct gpu_model *gpu_model_with_fewer_digits(const struct gpu_model *want,
                                                    const struct gpu_model_there *there, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (has_one_more(want->chip, there[i].model.chip))
            return &there[i].model;
    }
    return NULL;
}

bool gpu_model_nearest(const struct gpu_model *want, const struct gpu_model_there *there, size_t n,
                       struct gpu_model *ret_model)
{
    struct gpu_model nearest = {0};
    int least = COST_MAX + 1;
    bool is_ambiguous = false;
    for (size_t i = 0; i < n; i++) {
        const struct gpu_model *model = &there[i].model;
        const int cost = cost_of(&there[i], want);
        if (cost < least) {
            least = cost;
            nearest = *model;
            is_ambiguous = false;
        } else if (cost == least && strcmp(model->chip, nearest.chip) == 0) {
            keep_common(&nearest, model, want);
        } else {
            is_ambiguous = is_ambiguous || cost == least;
        }
    }
    if (least > COST_MAX || is_ambiguous)
        return false;
    if (nearest.memory_gb == 0)
        nearest.memory_gb = want->memory_gb; /* given by the memory of the nodes */
    nearest.sharing = want->sharing;
    memcpy(nearest.mig_profile, want->mig_profile, sizeof nearest.mig_profile);
    *ret_model = nearest;
    return true;
}
