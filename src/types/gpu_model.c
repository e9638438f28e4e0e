/*
 * gpu_model: see include/types/gpu_model.h. gpu_model_words.c defines the single words.
 *
 * Parsing is stable: gpu_model_text() of a result parses to the same result. So a name with
 * contradictory qualifiers becomes one chip, word for word.
 */
#include "types/gpu_model.h"

#include "gpu_model_words.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define GIB (INT64_C(1) << 30)

/* A parsed name. */
struct reading {
    struct gpu_model_words chip;
    uint64_t forms; /* bit i: gpu_model_word_form_at(i) */
    bool has_late_form;
    int32_t memory_gb;
    const char *memory_type;
};

/* Appends "-word", or "word" to an empty text. False: does not fit. */
static bool append(char *text, size_t size, const char *word)
{
    size_t len = strlen(text);
    int n = snprintf(text + len, size - len, "%s%s", len > 0 ? "-" : "", word);
    return n >= 0 && (size_t)n < size - len;
}

static void drop_shared(struct gpu_model_words *words, size_t first, struct gpu_model *model)
{
    while (words->n > first && strcmp(words->words[words->n - 1], "SHARED") == 0) {
        words->n--;
        if (model->sharing == GPU_WHOLE)
            model->sharing = GPU_TIME_SHARED;
    }
}

/* Removes sharing suffixes from words, keeping the first ones. False: does not fit. */
static bool take_sharing(struct gpu_model_words *words, size_t first, struct gpu_model *model)
{
    drop_shared(words, first, model);
    size_t mig = first;
    while (mig < words->n && strcmp(words->words[mig], "MIG") != 0)
        mig++;
    if (mig < words->n) {
        model->sharing = GPU_MIG_SLICED;
        for (size_t i = mig + 1; i < words->n; i++)
            if (!append(model->mig_profile, sizeof model->mig_profile, words->words[i]))
                return false;
        for (char *c = model->mig_profile; *c; c++)
            *c = (char)tolower((unsigned char)*c);
        words->n = mig;
    }
    drop_shared(words, first, model);
    return true;
}

/* False: contradicts an earlier size. */
static bool take_memory(struct reading *reading, int32_t size)
{
    if (reading->memory_gb != 0 && reading->memory_gb != size)
        return false;
    reading->memory_gb = size;
    return true;
}

/* "GB" alone turns the number before it into a size. */
static bool take_memory_unit(struct reading *reading, const char *unit)
{
    struct gpu_model_words *chip = &reading->chip;
    int32_t size = chip->n > 0 ? gpu_model_word_size(chip->words[chip->n - 1]) : 0;
    if (size == 0)
        return gpu_model_words_add_chip(chip, unit);
    chip->n--;
    return take_memory(reading, size);
}

static bool take_memory_type(struct reading *reading, const char *word)
{
    const char *type = gpu_model_word_spelling(word);
    if (reading->memory_type && strcmp(reading->memory_type, type) != 0)
        return false;
    reading->memory_type = type;
    return true;
}

static bool has_number(const struct gpu_model_words *chip)
{
    for (size_t i = 0; i < chip->n; i++)
        if (strpbrk(chip->words[i], "0123456789"))
            return true;
    return false;
}

static bool take_word(struct reading *reading, const char *word)
{
    switch (gpu_model_word_kind(word)) {
    case WORD_FORM:
        if (gpu_model_word_is_late_form(word)) {
            if (!has_number(&reading->chip))
                break;
            reading->has_late_form = true;
        }
        reading->forms |= UINT64_C(1) << gpu_model_word_form(word);
        return true;
    case WORD_MEMORY:
        return take_memory(reading, gpu_model_word_size(word));
    case WORD_MEMORY_UNIT:
        return take_memory_unit(reading, word);
    case WORD_MEMORY_TYPE:
        return take_memory_type(reading, word);
    case WORD_CHIP:
        break;
    }
    return gpu_model_words_add_chip(&reading->chip, word);
}

/* AMD's "Radeon PRO V620" is a V620, but "RTX PRO 6000" and "Radeon Pro 465" need the word. */
static size_t words_to_skip(const struct gpu_model_words *chip)
{
    if (chip->n < 2 || strcmp(chip->words[0], "PRO") != 0 ||
        !isalpha((unsigned char)*chip->words[1]))
        return 0;
    return strpbrk(chip->words[1], "0123456789") ? 1 : 0;
}

static bool write_chip(const struct gpu_model_words *words, size_t first, struct gpu_model *model)
{
    char chip[GPU_MODEL_TEXT_MAX] = "";
    for (size_t i = first; i < words->n; i++)
        if (!append(chip, sizeof chip, gpu_model_word_spelling(words->words[i])))
            return false;
    (void)snprintf(model->chip, sizeof model->chip, "%s", gpu_model_words_same_chip(chip));
    return true;
}

/* The size in a Grace Hopper's name is mostly the CPU's: "GH200 480GB" has a GPU with 96 GB. It
 * stays a qualifier, but gives no GPU memory. */
static bool is_cpu_memory(const struct gpu_model *model)
{
    return strcmp(model->chip, "GH200") == 0 &&
           (model->memory_gb == 120 || model->memory_gb == 240 || model->memory_gb == 480);
}

static bool write_qualifiers(const struct reading *reading, struct gpu_model *model)
{
    for (int i = 0; gpu_model_word_form_at(i); i++)
        if (reading->forms >> i & 1 &&
            !append(model->form, sizeof model->form, gpu_model_word_form_at(i)))
            return false;
    model->memory_gb = reading->memory_gb;
    if (reading->memory_type)
        (void)snprintf(model->memory_type, sizeof model->memory_type, "%s", reading->memory_type);
    if (is_cpu_memory(model)) {
        char size[16];
        (void)snprintf(size, sizeof size, "%dGB", model->memory_gb);
        model->memory_gb = 0;
        return append(model->form, sizeof model->form, size);
    }
    return true;
}

/* Finds chip and qualifiers. False: there is no chip, or qualifiers contradict each other. */
static bool understand(const struct gpu_model_words *words, struct gpu_model *model)
{
    struct reading reading = {0};
    for (size_t i = 0; i < words->n; i++)
        if (!take_word(&reading, words->words[i]))
            return false;
    if (reading.chip.n == 0 || (reading.has_late_form && !has_number(&reading.chip)))
        return false;
    struct gpu_model understood = *model;
    if (!write_chip(&reading.chip, words_to_skip(&reading.chip), &understood) ||
        !write_qualifiers(&reading, &understood))
        return false;
    *model = understood;
    return true;
}

static bool read_name(const char *text, struct gpu_model *ret_model)
{
    struct gpu_model_words words;
    struct gpu_model model = {0};
    if (!gpu_model_words_read(text, &words) || !take_sharing(&words, 1, &model) || words.n == 0)
        return false;
    if (!understand(&words, &model) && !write_chip(&words, 0, &model))
        return false;
    *ret_model = model;
    return true;
}

/* Whether text is the alias, perhaps with sharing suffixes, which go to ret_sharing. */
static bool is_alias(const char *text, const struct gpu_model_alias *alias,
                     struct gpu_model *ret_sharing)
{
    const char *rest = gpu_model_words_after(text, alias->from);
    struct gpu_model_words words;
    *ret_sharing = (struct gpu_model){0};
    return rest && gpu_model_words_read(rest, &words) && take_sharing(&words, 0, ret_sharing) &&
           words.n == 0;
}

bool gpu_model_alias_equal(const char *a, const char *b)
{
    return gpu_model_words_after(a, b) && gpu_model_words_after(b, a);
}

bool gpu_model_parse(const char *text, const struct gpu_model_alias *aliases, size_t n_aliases,
                     struct gpu_model *ret_model)
{
    *ret_model = (struct gpu_model){0};
    struct gpu_model sharing;
    size_t i = 0;
    while (i < n_aliases && !is_alias(text, &aliases[i], &sharing))
        i++;
    if (!read_name(i < n_aliases ? aliases[i].to : text, ret_model))
        return false;
    if (i < n_aliases && sharing.sharing != GPU_WHOLE) {
        ret_model->sharing = sharing.sharing;
        memcpy(ret_model->mig_profile, sharing.mig_profile, sizeof sharing.mig_profile);
    }
    return true;
}

static bool is_word(const char *text, size_t len, const char *word)
{
    return len == strlen(word) && strncmp(text, word, len) == 0;
}

/* Whether one word of form is the wanted one. "SXM" matches any generation, and so does "NVLink",
 * the name that some providers give to these boards. */
static bool has_form(const char *form, const char *wanted, size_t len)
{
    const bool is_any_sxm = is_word(wanted, len, "SXM") || is_word(wanted, len, "NVLink");
    for (; *form; form += strcspn(form, "-"), form += *form == '-') {
        const size_t n = strcspn(form, "-");
        if ((n == len && strncmp(form, wanted, len) == 0) ||
            (is_any_sxm && strncmp(form, "SXM", 3) == 0))
            return true;
    }
    return false;
}

static bool has_forms(const char *form, const char *wanted)
{
    while (*wanted) {
        size_t len = strcspn(wanted, "-");
        if (!has_form(form, wanted, len))
            return false;
        wanted += len;
        wanted += *wanted == '-';
    }
    return true;
}

/* Whether memory_bytes is within 10 % of the nominal size_gb. */
static bool is_size(int64_t memory_bytes, int32_t size_gb)
{
    int64_t size = size_gb * GIB;
    return memory_bytes >= size - size / 10 && size >= memory_bytes - memory_bytes / 10;
}

/* A request with a way of sharing needs that one; without, any matches. */
static bool has_sharing(const struct gpu_model *have, const struct gpu_model *want)
{
    if (want->sharing == GPU_WHOLE)
        return true;
    return have->sharing == want->sharing &&
           (!want->mig_profile[0] || strcmp(have->mig_profile, want->mig_profile) == 0);
}

bool gpu_model_satisfies(const struct gpu_model *have, int64_t memory_bytes,
                         const struct gpu_model *want)
{
    if (want->chip[0] == '\0' || strcmp(have->chip, want->chip) != 0)
        return false;
    if (!has_forms(have->form, want->form) || !has_sharing(have, want))
        return false;
    if (want->memory_type[0] && strcmp(have->memory_type, want->memory_type) != 0)
        return false;
    if (want->memory_gb == 0 || have->memory_gb == want->memory_gb)
        return true;
    return have->memory_gb == 0 && is_size(memory_bytes, want->memory_gb);
}

bool gpu_model_equal(const struct gpu_model *a, const struct gpu_model *b)
{
    return strcmp(a->chip, b->chip) == 0 && strcmp(a->form, b->form) == 0 &&
           a->memory_gb == b->memory_gb && strcmp(a->memory_type, b->memory_type) == 0;
}

const char *gpu_model_text(const struct gpu_model *model, char *text)
{
    char size[16] = "";
    if (model->memory_gb > 0)
        (void)snprintf(size, sizeof size, "-%dGB", model->memory_gb);
    (void)snprintf(text, 128, "%s%s%s%s%s%s", model->chip, model->form[0] ? "-" : "", model->form,
                   size, model->memory_type[0] ? "-" : "", model->memory_type);
    return text;
}

/* "1c.3g.20gb+me": 20. */
static int32_t slice_gb(const char *profile)
{
    const char *size = strrchr(profile, '.');
    int32_t gb = 0;
    if (!size)
        return 0;
    for (size++; isdigit((unsigned char)*size) && gb < 10000; size++)
        gb = gb * 10 + (*size - '0');
    return strncmp(size, "gb", 2) == 0 ? gb : 0;
}

const char *gpu_model_sharing(const struct gpu_model *model, struct arena *arena)
{
    if (model->sharing == GPU_MIG_SLICED)
        return arena_printf(arena, "MIG%s%s", model->mig_profile[0] ? "-" : "", model->mig_profile);
    if (model->sharing == GPU_PARTITIONED)
        return arena_printf(arena, "PARTITION-%s", model->mig_profile);
    return model->sharing == GPU_TIME_SHARED ? "SHARED" : "";
}

const char *gpu_model_name(const struct gpu_model *model, struct arena *arena)
{
    char text[128];
    const char *sharing = gpu_model_sharing(model, arena);
    return arena_printf(arena, "%s%s%s", gpu_model_text(model, text), sharing[0] ? "-" : "",
                        sharing);
}

int64_t gpu_model_memory_bytes(const struct gpu_model *model)
{
    bool sliced = model->sharing == GPU_MIG_SLICED || model->sharing == GPU_PARTITIONED;
    return (sliced ? slice_gb(model->mig_profile) : model->memory_gb) * GIB;
}

int64_t gpu_model_most_memory_bytes(const struct gpu_model *model)
{
    static const struct {
        const char *chip;
        int32_t gb;
    } CHIPS[] = {
        {"A10", 24},     {"A100", 80},    {"A10G", 24},    {"A16", 16},     {"A2", 16},
        {"A30", 24},     {"A40", 48},     {"A800", 80},    {"B200", 192},   {"B300", 288},
        {"GB200", 192},  {"GB300", 288},  {"GH200", 144},  {"H100", 96},    {"H20", 141},
        {"H200", 141},   {"H800", 80},    {"K80", 24},     {"L20", 48},     {"L4", 24},
        {"L40", 48},     {"L40S", 48},    {"M60", 8},      {"MI210", 64},   {"MI250X", 128},
        {"MI300X", 192}, {"MI308X", 192}, {"MI325X", 256}, {"MI350X", 288}, {"MI355X", 288},
        {"P100", 16},    {"P4", 8},       {"P40", 24},     {"T4", 16},      {"V100", 32},
    };
    for (size_t i = 0; i < sizeof CHIPS / sizeof *CHIPS; i++) {
        if (strcmp(CHIPS[i].chip, model->chip) == 0)
            return CHIPS[i].gb * GIB;
    }
    return 0;
}

bool gpu_memory_is_enough(int64_t have_bytes, int64_t want_bytes)
{
    return have_bytes >= want_bytes - want_bytes / 25 * 2;
}
