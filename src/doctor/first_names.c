/* first_names: see first_names.h. */
#include "first_names.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SHOWN_NAMES 3
/* Longer names are cut. */
#define SHOWN_BYTES 100

void first_names_add(struct first_names *list, const char *format, ...)
{
    char name[SHOWN_BYTES];
    const size_t len = strlen(list->text);
    va_list args;
    if (list->n++ >= SHOWN_NAMES)
        return;
    va_start(args, format);
    (void)vsnprintf(name, sizeof name, format, args);
    va_end(args);
    (void)snprintf(list->text + len, sizeof list->text - len, "%s%s", len > 0 ? ", " : "", name);
}

const char *first_names_text(struct first_names *list)
{
    if (list->n <= SHOWN_NAMES)
        return list->text;
    (void)snprintf(list->shown, sizeof list->shown, "%s and %zu more", list->text,
                   list->n - SHOWN_NAMES);
    return list->shown;
}
