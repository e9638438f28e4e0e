/*
 * words: texts that many objects of a ledger share (names of nodes and namespaces, labels), each
 * kept once and counted by its users. Private to ledger.
 */
#ifndef LEDGER_WORDS_H
#define LEDGER_WORDS_H

#include <stddef.h>

struct word;

struct words {
    struct word *table;
};

/* The text, kept until what is returned here is dropped as often as it was held. */
const char *words_hold(struct words *words, const char *text);
void words_drop(struct words *words, const char *text);

#endif
