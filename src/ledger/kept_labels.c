/* kept_labels: see kept_labels.h. */
#include "kept_labels.h"
#include "base/mem.h"
#include "types/selector.h"

#include <stdlib.h>
#include <string.h>

struct label *kept_labels_new(struct words *words, const struct label *labels, size_t n)
{
    struct label *kept = MEM_ARRAY(struct label, n);
    for (size_t i = 0; i < n; i++) {
        kept[i].key = words_hold(words, labels[i].key);
        kept[i].value = words_hold(words, labels[i].value);
    }
    labels_sort(kept, n);
    return kept;
}

void kept_labels_free(struct words *words, struct label *labels, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        words_drop(words, labels[i].key);
        words_drop(words, labels[i].value);
    }
    free(labels);
}

bool kept_labels_equal(const struct label *a, size_t n_a, const struct label *b, size_t n_b)
{
    if (n_a != n_b)
        return false;
    for (size_t i = 0; i < n_a; i++) {
        if (strcmp(a[i].key, b[i].key) != 0 || strcmp(a[i].value, b[i].value) != 0)
            return false;
    }
    return true;
}
