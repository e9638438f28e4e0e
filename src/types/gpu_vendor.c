/* gpu_vendor: see include/types/gpu_vendor.h. */
#include "types/gpu_vendor.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

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
