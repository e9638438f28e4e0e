/* words: see words.h. */
#include "words.h"
#include "base/mem.h"
#include "base/table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct word {
    size_t refs;
    UT_hash_handle hh;
    char text[];
};

/* There are so many of it that it is worth no counting. */
static const char EMPTY[] = "";

const char *words_hold(struct words *words, const char *text)
{
    if (!*text)
        return EMPTY;
    struct word *word = NULL;
    HASH_FIND_STR(words->table, text, word);
    if (!word) {
        const size_t size = strlen(text) + 1;
        word = mem_new(sizeof *word + size);
        memcpy(word->text, text, size);
        HASH_ADD_STR(words->table, text, word);
    }
    word->refs++;
    return word->text;
}

void words_drop(struct words *words, const char *text)
{
    if (text == EMPTY)
        return;
    struct word *word = CONTAINER_OF(text, struct word, text[0]);
    if (--word->refs > 0)
        return;
    HASH_DEL(words->table, word);
    free(word);
}
