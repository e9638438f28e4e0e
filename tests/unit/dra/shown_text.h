/* shown_text: slices and answers of the allocator as texts that can be compared. */
#ifndef CLAIMS_SHOWN_TEXT_H
#define CLAIMS_SHOWN_TEXT_H

#include "base/arena.h"
#include "dra/allocate.h"

/* All but the facts of devices, which answers compare. Lists are sorted. */
const char *slice_text(struct arena *arena, const struct allocate_slice *slice);
/* NULL: the search is too long. */
const char *answer_text(struct arena *arena, const struct allocate_question *asked,
                        const struct allocate_answer *answer);

#endif
