/* told: see told.h. */
#include "told.h"

#include <stdio.h>
#include <string.h>

#define DIGITS "0123456789"

/* The end of "GET /api/v1/pods: 403"; NULL: it has no status. */
static const char *end_of_status(const char *failure)
{
    const char *colon = strstr(failure, ": ");
    const char *status = colon ? colon + 2 : "";
    const size_t len = strspn(status, DIGITS);
    const char *end = status + len;
    return len == 3 && (!*end || strncmp(end, ": ", 2) == 0) ? end : NULL;
}

static void drop_digits(char *text)
{
    char *end = text;
    for (; *text; text++) {
        if (!strchr(DIGITS, *text))
            *end++ = *text;
    }
    *end = '\0';
}

bool told_is_news(struct told *told, const char *failure)
{
    struct told now;
    const char *end = end_of_status(failure);
    const size_t len = end ? (size_t)(end - failure) : strlen(failure);
    (void)snprintf(now.what, sizeof now.what, "%.*s", (int)len, failure);
    if (!end)
        drop_digits(now.what);
    const bool is_another = strcmp(now.what, told->what) != 0;
    *told = now;
    return is_another && now.what[0];
}

void told_forget(struct told *told)
{
    told->what[0] = '\0';
}
