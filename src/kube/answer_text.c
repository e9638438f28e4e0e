/* answer_text: see answer_text.h. */
#include "answer_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int64_t answer_text_retry_after_s(const char *value)
{
    char *end = NULL;
    errno = 0;
    long long seconds = strtoll(value, &end, 10);
    return end == value || *end || errno || seconds < 0 ? -1 : seconds;
}

const char *answer_text_fault(char *text)
{
    text[strcspn(text, "\r\n")] = '\0';
    return text[0] && !strchr(text, '@') ? text : NULL;
}
