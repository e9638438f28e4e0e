/* gpu_model_words: see gpu_model_words.h, and gpu_vendor_*() in include/types/gpu_model.h. */
#include "gpu_model_words.h"
#include "types/gpu_model.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Words that do not distinguish models: vendors, product lines, filler, parts of AMD board names
 * ("MI250 (MCM) OAM AC MBA"), and what people write who only mark that there are GPUs. */
static const char *const NOISE[] = {
    "NVIDIA",      "TESLA",       "GEFORCE",    "QUADRO",  "GRID",   "AMD",        "ATI",
    "RADEON",      "INSTINCT",    "FIREPRO",    "INTEL",   "HABANA", "HUAWEI",     "CAMBRICON",
    "ILUVATAR",    "METAX",       "BIREN",      "ENFLAME", "HYGON",  "KUNLUNXIN",  "DATA",
    "CENTER",      "CENTRE",      "DATACENTER", "GPU",     "GPUS",   "CARD",       "DEVICE",
    "GRAPHICS",    "ACCELERATOR", "SERIES",     "WITH",    "DESIGN", "GENERATION", "EDITION",
    "CORPORATION", "MCM",         "MBA",        "TRUE",    "FALSE",  "YES",        "NO",
    "NONE",        "ENABLED",     "PRESENT",
};

/* Form factor, cooling, cut or market, in writing order. Mega and VWS are GKE's (a3-megagpu
 * machines, virtual workstations); HF, VF and MxGPU AMD's (high frequency, virtual functions). The
 * last line is of boards for one buyer ("V100-SXM2-16GB-N", "MI250X ... MSFT"). */
static const char *const FORMS[] = {
    "SXM",         "SXM2",  "SXM3",  "SXM4",   "SXM5", "SXM6", "PCIe",   "NVL",   "NVL4",
    "NVL8",        "NVL36", "NVL72", "NVLink", "OAM",  "HGX",  "DGX",    "DGXS",  "CNX",
    "FHHL",        "LS",    "AC",    "Mega",   "VWS",  "HF",   "VF",     "MxGPU", "Server",
    "Workstation", "N",     "H",     "MSFT",   "HPE",  "C2",   "Active",
};

/* Forms only behind the number of a chip: before it they begin its name ("H 100"). */
static const char *const LATE_FORMS[] = {"N", "H", "C2"};

static const char *const MEMORY_TYPES[] = {
    "HBM", "HBM2", "HBM2e", "HBM3", "HBM3e", "HBM4", "GDDR5", "GDDR5X", "GDDR6", "GDDR6X", "GDDR7",
};

/* Words of chips not written in capitals. */
static const char *const SPELLINGS[] = {
    "Ti", "Super",  "Ada",    "Blackwell", "Max", "Flex", "Arc",   "Pascal",
    "Xp", "Laptop", "Mobile", "Vega",      "Xe",  "Iris", "Black",
};

/* Families often joined to the number, and suffixes of the number. */
static const char *const FAMILIES[] = {"RTX", "GTX", "RX", "WX", "TITAN"};
static const char *const ENDINGS[] = {"TI", "SUPER", "XTX", "XT", "GRE", "ADA", "D"};

/* Letters that form one word with the number after them. */
static const char *const PREFIXES[] = {
    "A", "B", "H", "K", "L", "M", "P", "T", "V", "MI", "GB", "GH", "GV", "MLU", "ASCEND",
};

/* More words behind a number that make another chip ("RTX 4000 SFF", "Max-Q"). */
static const char *const OTHER_CHIPS[] = {"SFF", "Q", "S", "X", "G", "M"};

/* Names that leave out the letter, and do not tell which of several chips is meant. */
static const struct {
    const char *from;
    const char *to;
} SHORT_CHIPS[] = {
    {"MI300", "MI300X"},
    {"MI300", "MI300A"},
};

/* Short names of chips. RTX PRO exists in one generation only, and these of AMD with an X only. */
static const struct {
    const char *from;
    const char *to;
} SAME_CHIPS[] = {
    {"A2000", "RTX-A2000"},
    {"A4000", "RTX-A4000"},
    {"A4500", "RTX-A4500"},
    {"A5000", "RTX-A5000"},
    {"A5500", "RTX-A5500"},
    {"A6000", "RTX-A6000"},
    {"R9700", "AI-PRO-R9700"},
    {"MI308", "MI308X"},
    {"MI325", "MI325X"},
    {"MI350", "MI350X"},
    {"MI355", "MI355X"},
    {"RTX-PRO-2000", "RTX-PRO-2000-Blackwell"},
    {"RTX-PRO-4000", "RTX-PRO-4000-Blackwell"},
    {"RTX-PRO-4500", "RTX-PRO-4500-Blackwell"},
    {"RTX-PRO-5000", "RTX-PRO-5000-Blackwell"},
    {"RTX-PRO-6000", "RTX-PRO-6000-Blackwell"},
};

/* Index of word in list, ignoring case; -1 if absent. */
static int place_in(const char *const *list, size_t n, const char *word)
{
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(list[i], word) == 0)
            return (int)i;
    return -1;
}

/* Length of the separator at text; 0 at a word character: letters, digits, '.' and '+' of MIG
 * profiles ("1g.5gb+me"), non-ASCII. Trade marks are separators. */
static size_t separator_length(const char *text)
{
    static const char *const MARKS[] = {"(R)", "(TM)", "\xc2\xae", "\xe2\x84\xa2"};
    for (size_t i = 0; i < COUNT(MARKS); i++)
        if (strncasecmp(text, MARKS[i], strlen(MARKS[i])) == 0)
            return strlen(MARKS[i]);
    unsigned char c = (unsigned char)*text;
    return c == '\0' || isalnum(c) || c == '.' || c == '+' || c >= 0x80 ? 0 : 1;
}

static bool add(struct gpu_model_words *words, const char *word, size_t len)
{
    if (words->n == GPU_MODEL_WORDS_MAX || len >= GPU_MODEL_TEXT_MAX)
        return false;
    char *copy = words->words[words->n];
    for (size_t i = 0; i < len; i++)
        copy[i] = (char)toupper((unsigned char)word[i]);
    copy[len] = '\0';
    if (place_in(NOISE, COUNT(NOISE), copy) < 0)
        words->n++;
    return true;
}

/* Length of the family that starts a longer word; 0 if none. */
static size_t family_length(const char *word, size_t len)
{
    for (size_t i = 0; i < COUNT(FAMILIES); i++) {
        size_t family = strlen(FAMILIES[i]);
        if (len > family && strncasecmp(word, FAMILIES[i], family) == 0)
            return family;
    }
    return 0;
}

/* Length of the suffix at text; 0 if none. */
static size_t ending_length(const char *text, size_t len)
{
    for (size_t i = 0; i < COUNT(ENDINGS); i++) {
        size_t ending = strlen(ENDINGS[i]);
        if (len >= ending && strncasecmp(text, ENDINGS[i], ending) == 0)
            return ending;
    }
    return 0;
}

/* The first split of a word: after a family ("RTX" 3090), before suffixes of a number ("3090" TI
 * SUPER), after the first of several suffixes, or nowhere (len). */
static size_t first_cut(const char *word, size_t len)
{
    size_t family = family_length(word, len);
    if (family > 0)
        return family;
    size_t digits = 0;
    while (digits < len && isdigit((unsigned char)word[digits]))
        digits++;
    size_t at = digits;
    for (size_t n = 1; at < len && n > 0; at += n)
        n = ending_length(word + at, len - at);
    if (at < len)
        return len;
    return digits > 0 ? digits : ending_length(word, len);
}

bool gpu_model_words_read(const char *text, struct gpu_model_words *ret_words)
{
    ret_words->n = 0;
    while (*text) {
        text += separator_length(text);
        size_t len = 0;
        while (text[len] && separator_length(text + len) == 0)
            len++;
        for (size_t cut; len > 0; text += cut, len -= cut) {
            cut = first_cut(text, len);
            if (!add(ret_words, text, cut))
                return false;
        }
    }
    return true;
}

bool gpu_model_words_add_chip(struct gpu_model_words *chip, const char *word)
{
    char *last = chip->n > 0 ? chip->words[chip->n - 1] : NULL;
    size_t len = strlen(word);
    if (last && isdigit((unsigned char)*word) && place_in(PREFIXES, COUNT(PREFIXES), last) >= 0) {
        if (strlen(last) + len >= GPU_MODEL_TEXT_MAX)
            return false;
        memcpy(last + strlen(last), word, len + 1);
        return true;
    }
    if (chip->n == GPU_MODEL_WORDS_MAX || len >= GPU_MODEL_TEXT_MAX)
        return false;
    memcpy(chip->words[chip->n++], word, len + 1);
    return true;
}

int32_t gpu_model_word_size(const char *word)
{
    static const char *const UNITS[] = {"", "G", "GB", "GI", "GIB"};
    int32_t size = 0;
    for (; isdigit((unsigned char)*word); word++) {
        if (size > 9999)
            return 0;
        size = size * 10 + (*word - '0');
    }
    return place_in(UNITS, COUNT(UNITS), word) >= 0 ? size : 0;
}

int gpu_model_word_form(const char *word)
{
    return place_in(FORMS, COUNT(FORMS), word);
}

bool gpu_model_word_is_late_form(const char *word)
{
    return place_in(LATE_FORMS, COUNT(LATE_FORMS), word) >= 0;
}

const char *gpu_model_word_form_at(int place)
{
    return (size_t)place < COUNT(FORMS) ? FORMS[place] : NULL;
}

const char *gpu_model_word_brand_at(int place)
{
    return (size_t)place < COUNT(NOISE) ? NOISE[place] : NULL;
}

const char *gpu_model_word_family_at(int place)
{
    return (size_t)place < COUNT(FAMILIES) ? FAMILIES[place] : NULL;
}

enum gpu_model_word_kind gpu_model_word_kind(const char *word)
{
    if (gpu_model_word_form(word) >= 0)
        return WORD_FORM;
    if (place_in(MEMORY_TYPES, COUNT(MEMORY_TYPES), word) >= 0)
        return WORD_MEMORY_TYPE;
    if (strcmp(word, "GB") == 0 || strcmp(word, "GIB") == 0)
        return WORD_MEMORY_UNIT;
    if (gpu_model_word_size(word) > 0 && !isdigit((unsigned char)word[strlen(word) - 1]))
        return WORD_MEMORY;
    return WORD_CHIP;
}

const char *gpu_model_word_spelling(const char *word)
{
    int place = gpu_model_word_form(word);
    if (place >= 0)
        return FORMS[place];
    place = place_in(MEMORY_TYPES, COUNT(MEMORY_TYPES), word);
    if (place >= 0)
        return MEMORY_TYPES[place];
    place = place_in(SPELLINGS, COUNT(SPELLINGS), word);
    return place >= 0 ? SPELLINGS[place] : word;
}

bool gpu_model_word_makes_another(const char *word)
{
    return strpbrk(word, "0123456789") || place_in(ENDINGS, COUNT(ENDINGS), word) >= 0 ||
           place_in(SPELLINGS, COUNT(SPELLINGS), word) >= 0 ||
           place_in(OTHER_CHIPS, COUNT(OTHER_CHIPS), word) >= 0;
}

bool gpu_model_words_are_near(const char *a, const char *b)
{
    for (size_t i = 0; i < COUNT(SHORT_CHIPS); i++) {
        const char *short_ = SHORT_CHIPS[i].from;
        const char *long_ = SHORT_CHIPS[i].to;
        if ((strcmp(a, short_) == 0 && strcmp(b, long_) == 0) ||
            (strcmp(b, short_) == 0 && strcmp(a, long_) == 0))
            return true;
    }
    return false;
}

const char *gpu_model_words_same_chip(const char *chip)
{
    for (size_t i = 0; i < COUNT(SAME_CHIPS); i++)
        if (strcmp(SAME_CHIPS[i].from, chip) == 0)
            return SAME_CHIPS[i].to;
    return chip;
}

const char *gpu_model_words_after(const char *text, const char *name)
{
    bool empty = true;
    for (;; text++, name++) {
        size_t skip;
        while ((skip = separator_length(name)) > 0)
            name += skip;
        if (*name == '\0')
            return !empty && (*text == '\0' || separator_length(text) > 0) ? text : NULL;
        while ((skip = separator_length(text)) > 0)
            text += skip;
        if (tolower((unsigned char)*text) != tolower((unsigned char)*name))
            return NULL;
        empty = false;
    }
}

/* Words of names, in capitals. '#' at the end stands for a number: "MI300X" is a MI#. The first
 * row that matches any word of a name counts, so brands come before letters that several vendors
 * use. */
static const struct {
    const char *word, *domain;
} VENDORS[] = {
    {"NVIDIA", "nvidia.com"},
    {"TESLA", "nvidia.com"},
    {"GEFORCE", "nvidia.com"},
    {"QUADRO", "nvidia.com"},
    {"GRID", "nvidia.com"},
    {"AMD", "amd.com"},
    {"ATI", "amd.com"},
    {"RADEON", "amd.com"},
    {"INSTINCT", "amd.com"},
    {"FIREPRO", "amd.com"},
    {"INTEL", "intel.com"},
    {"ARC", "intel.com"},
    {"FLEX", "intel.com"},
    {"FLEX#", "intel.com"},
    {"MAX", "intel.com"},
    {"IRIS", "intel.com"},
    {"HABANA", "habana.ai"},
    {"GAUDI", "habana.ai"},
    {"HUAWEI", "huawei.com"},
    {"ASCEND", "huawei.com"},
    {"ASCEND#", "huawei.com"},
    {"CAMBRICON", "cambricon.com"},
    {"MLU#", "cambricon.com"},
    {"METAX", "metax-tech.com"},
    {"ILUVATAR", "iluvatar.ai"},
    {"BIREN", "birentech.com"},
    {"ENFLAME", "enflame.com"},
    {"HYGON", "hygon.com"},
    {"KUNLUNXIN", "kunlunxin.com"},
    {"MI#", "amd.com"},
    {"RX", "amd.com"},
    {"WX", "amd.com"},
    {"V520", "amd.com"},
    {"V620", "amd.com"},
    {"V710", "amd.com"},
    {"A310", "intel.com"},
    {"A380", "intel.com"},
    {"A770", "intel.com"},
    {"B50", "intel.com"},
    {"B60", "intel.com"},
    {"B570", "intel.com"},
    {"B580", "intel.com"},
    {"RTX", "nvidia.com"},
    {"GTX", "nvidia.com"},
    {"TITAN", "nvidia.com"},
    {"GB#", "nvidia.com"},
    {"GH#", "nvidia.com"},
    {"A#", "nvidia.com"},
    {"B#", "nvidia.com"},
    {"H#", "nvidia.com"},
    {"K#", "nvidia.com"},
    {"L#", "nvidia.com"},
    {"M#", "nvidia.com"},
    {"P#", "nvidia.com"},
    {"T#", "nvidia.com"},
    {"V#", "nvidia.com"},
};

static size_t word_length(const char *text)
{
    size_t len = 0;
    while (isalnum((unsigned char)text[len]))
        len++;
    return len;
}

static bool is_word(const char *text, size_t len, const char *word)
{
    const size_t n = strlen(word);
    if (word[n - 1] != '#')
        return len == n && strncasecmp(text, word, n) == 0;
    return len >= n && strncasecmp(text, word, n - 1) == 0 && isdigit((unsigned char)text[n - 1]);
}

static bool has_word(const char *text, const char *word)
{
    while (*text) {
        const size_t len = word_length(text);
        if (len > 0 && is_word(text, len, word))
            return true;
        text += len > 0 ? len : 1;
    }
    return false;
}

const char *gpu_vendor_of_model(const char *name)
{
    for (size_t i = 0; i < COUNT(VENDORS); i++) {
        if (has_word(name, VENDORS[i].word))
            return VENDORS[i].domain;
    }
    return "";
}

bool gpu_vendor_has(const char *vendor, const char *domain)
{
    const size_t len = strlen(vendor);
    const size_t n = strlen(domain);
    return len > 0 && n >= len && strcmp(domain + n - len, vendor) == 0 &&
           (n == len || domain[n - len - 1] == '.');
}
