/* head: see head.h. */
#include "head.h"

#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *joined(const char *a, const char *b)
{
    char *text = NULL;
    if (asprintf(&text, "%s%s", a, b) < 0)
        abort();
    return text;
}

static void add(struct head *head, const char *name, const char *value)
{
    head->lines[head->n_lines++] = joined(name, value);
}

void head_init(struct head *head, const struct endpoint *endpoint,
               const struct transfer_request *request)
{
    *head = (struct head){.url = joined(endpoint->base_url, request->request->path)};
    add(head, "Accept: ", "application/json");
    add(head, "Expect:", ""); /* saves a round trip */
    if (request->request->body)
        add(head, "Content-Type: ",
            strcmp(request->request->method, "PATCH") == 0 ? "application/merge-patch+json"
                                                           : "application/json");
    if (request->identity->authorization)
        add(head, "Authorization: ", request->identity->authorization);
    if (endpoint->host)
        add(head, "Host: ", endpoint->host);
}

void head_fini(struct head *head)
{
    for (size_t i = 0; i < head->n_lines; i++)
        free(head->lines[i]);
    free(head->url);
}

int64_t head_retry_after_s(const char *value)
{
    char *end = NULL;
    errno = 0;
    long long seconds = strtoll(value, &end, 10);
    return end == value || *end || errno || seconds < 0 ? -1 : seconds;
}
