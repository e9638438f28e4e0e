/* journal: events on a loop's thread, as text that a test waits for. */
#ifndef JOURNAL_H
#define JOURNAL_H

struct journal;
struct journal *journal_new(void);
void journal_free(struct journal *journal);
/* From any thread. */
void journal_add(struct journal *journal, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Waits until the text ends with this; fails after 10 s. */
void journal_wait(struct journal *journal, const char *end);
/* Checks the whole text now. */
void journal_expect(struct journal *journal, const char *text);

#endif
