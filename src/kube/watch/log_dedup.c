/* log_dedup: see pace.h. */
#include "pace.h"

#include <stdio.h>
#include <string.h>

#define DIGITS "0123456789"

/* Returns the end of "GET /api/v1/pods: 403"; NULL: no status in it. */
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

bool log_dedup_is_news(struct log_dedup *dedup, const char *failure)
{
    struct log_dedup now;
    const char *end = end_of_status(failure);
    const size_t len = end ? (size_t)(end - failure) : strlen(failure);
    (void)snprintf(now.what, sizeof now.what, "%.*s", (int)len, failure);
    if (!end)
        drop_digits(now.what);
    const bool is_another = strcmp(now.what, dedup->what) != 0;
    *dedup = now;
    return is_another && now.what[0];
}

void log_dedup_forget(struct log_dedup *dedup)
{
    dedup->what[0] = '\0';
}
