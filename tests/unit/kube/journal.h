/* journal: what was told on a loop's thread, as text that a test waits for. */
#ifndef JOURNAL_H
#define JOURNAL_H

struct journal;
struct journal *journal_new(void);
void journal_free(struct journal *journal);
/* Any thread. */
void journal_add(struct journal *journal, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Waits until it ends with this; fails after 10 s. */
void journal_wait(struct journal *journal, const char *end);
/* Checks that it is this, now. */
void journal_expect(struct journal *journal, const char *text);

#endif
