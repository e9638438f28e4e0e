/* hidden: the table of such characters.
 *
 * Source: Unicode 17.0, the general categories Cc, Cf, Zl and Zp (UnicodeData.txt) and the property
 * Default_Ignorable_Code_Point (DerivedCoreProperties.txt), without U+0000, which ends a text. The
 * page (src/ui/page/fetching.js) asks the browser for the same properties; tests/ui compares them.
 */
#include "hidden.h"

#include <stddef.h>

static const struct {
    unsigned first, last;
} RANGES[] = {
    {0x01, 0x1f},       {0x7f, 0x9f},       {0xad, 0xad},       {0x34f, 0x34f},
    {0x600, 0x605},     {0x61c, 0x61c},     {0x6dd, 0x6dd},     {0x70f, 0x70f},
    {0x890, 0x891},     {0x8e2, 0x8e2},     {0x115f, 0x1160},   {0x17b4, 0x17b5},
    {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},
    {0x3164, 0x3164},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
    {0xfff0, 0xfffb},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1343f},
    {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

bool hidden_is_code(unsigned code)
{
    size_t i = 0;
    while (i < sizeof RANGES / sizeof *RANGES && code > RANGES[i].last)
        i++;
    return i < sizeof RANGES / sizeof *RANGES && code >= RANGES[i].first;
}
