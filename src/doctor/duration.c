/* duration: see scheduler_checks.h. */
#include "scheduler_checks.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define MOST_MS (INT64_C(1000) * 365 * 24 * 3600 * 1000)

static const struct unit {
    const char *name;
    double ms;
} UNITS[] = {{"ns", 1e-6}, {"us", 1e-3}, {"\xc2\xb5s", 1e-3}, {"\xce\xbcs", 1e-3},
             {"ms", 1},    {"s", 1e3},   {"m", 60e3},         {"h", 3600e3}};

/* The unit is all up to the next number. */
static const struct unit *find_unit(const char *text)
{
    const size_t len = strcspn(text, ".0123456789");
    for (size_t i = 0; i < sizeof UNITS / sizeof *UNITS; i++) {
        if (strlen(UNITS[i].name) == len && strncmp(UNITS[i].name, text, len) == 0)
            return &UNITS[i];
    }
    return NULL;
}

/* A number with its unit; returns what follows, or NULL. */
static const char *parse_part(const char *text, double *total_ms)
{
    const size_t len = strspn(text, ".0123456789");
    char number[32];
    if (len == 0 || len >= sizeof number)
        return NULL;
    memcpy(number, text, len);
    number[len] = '\0';
    char *end = NULL;
    const double value = strtod(number, &end);
    const struct unit *unit = find_unit(text + len);
    if (*end || end == number || !unit)
        return NULL;
    *total_ms += value * unit->ms;
    return text + len + strlen(unit->name);
}

bool duration_parse(const char *text, int64_t *ret_ms)
{
    const bool is_negative = *text == '-';
    const char *rest = text + (*text == '-' || *text == '+');
    double total_ms = 0;
    if (strcmp(rest, "0") == 0) {
        *ret_ms = 0;
        return true;
    }
    do {
        rest = parse_part(rest, &total_ms);
    } while (rest && *rest && total_ms <= (double)MOST_MS);
    if (!rest || total_ms > (double)MOST_MS)
        return false;
    *ret_ms = is_negative ? -(int64_t)total_ms : (int64_t)total_ms;
    return true;
}
