/* journal: see journal.h. */
#include "journal.h"

#include "base/buf.h"
#include "base/mem.h"
#include "unit.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PATIENCE_S 600
#define TEXT_MAX_BYTES 4096

struct journal {
    pthread_mutex_t lock;
    pthread_cond_t grown;
    struct buf text;
};

struct journal *journal_new(void)
{
    struct journal *journal = MEM_NEW(struct journal);
    (void)pthread_mutex_init(&journal->lock, NULL);
    (void)pthread_cond_init(&journal->grown, NULL);
    buf_init(&journal->text, TEXT_MAX_BYTES);
    return journal;
}

void journal_free(struct journal *journal)
{
    (void)pthread_mutex_destroy(&journal->lock);
    (void)pthread_cond_destroy(&journal->grown);
    buf_fini(&journal->text);
    free(journal);
}

void journal_add(struct journal *journal, const char *format, ...)
{
    char *words CLEANUP(mem_free_ptr) = NULL;
    va_list arguments;
    va_start(arguments, format);
    int n = vasprintf(&words, format, arguments);
    va_end(arguments);
    if (n < 0)
        abort();
    (void)pthread_mutex_lock(&journal->lock);
    buf_printf(&journal->text, "%s%s", journal->text.len ? ", " : "", words);
    (void)pthread_cond_broadcast(&journal->grown);
    (void)pthread_mutex_unlock(&journal->lock);
}

static bool ends_with(const struct journal *journal, const char *end)
{
    size_t len = strlen(end);
    return journal->text.len >= len &&
           strcmp(buf_text(&journal->text) + journal->text.len - len, end) == 0;
}

void journal_wait(struct journal *journal, const char *end)
{
    struct timespec limit;
    (void)clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += PATIENCE_S;
    int code = 0;
    (void)pthread_mutex_lock(&journal->lock);
    while (!ends_with(journal, end) && code == 0)
        code = pthread_cond_timedwait(&journal->grown, &journal->lock, &limit);
    char *text CLEANUP(mem_free_ptr) = mem_strdup(buf_text(&journal->text));
    (void)pthread_mutex_unlock(&journal->lock);
    if (code != 0)
        fail_msg("waited for \"%s\", there is: %s", end, text);
}

void journal_expect(struct journal *journal, const char *text)
{
    (void)pthread_mutex_lock(&journal->lock);
    char *found CLEANUP(mem_free_ptr) = mem_strdup(buf_text(&journal->text));
    (void)pthread_mutex_unlock(&journal->lock);
    assert_string_equal(found, text);
}
