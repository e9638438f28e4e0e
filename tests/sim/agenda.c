/* agenda: see agenda.h. A binary heap. */
#include "agenda.h"

#include "base/mem.h"

#include <stdlib.h>

void agenda_init(struct agenda *agenda, int64_t now_ms)
{
    *agenda = (struct agenda){.now_ms = now_ms};
}

void agenda_fini(struct agenda *agenda)
{
    free(agenda->heap);
}

static bool is_before(const struct agenda_entry *a, const struct agenda_entry *b)
{
    return a->at_ms != b->at_ms ? a->at_ms < b->at_ms : a->serial < b->serial;
}

static void swap(struct agenda_entry *a, struct agenda_entry *b)
{
    const struct agenda_entry c = *a;
    *a = *b;
    *b = c;
}

void agenda_at(struct agenda *agenda, int64_t at_ms, agenda_call *call, void *context)
{
    if (agenda->n == agenda->size) {
        agenda->size = agenda->size ? agenda->size * 2 : 64;
        agenda->heap = mem_grow(agenda->heap, agenda->size, sizeof *agenda->heap);
    }
    if (at_ms < agenda->now_ms)
        at_ms = agenda->now_ms;
    size_t i = agenda->n++;
    agenda->heap[i] = (struct agenda_entry){at_ms, agenda->serial++, call, context};
    for (; i > 0 && is_before(&agenda->heap[i], &agenda->heap[(i - 1) / 2]); i = (i - 1) / 2)
        swap(&agenda->heap[i], &agenda->heap[(i - 1) / 2]);
}

void agenda_in(struct agenda *agenda, int64_t delay_ms, agenda_call *call, void *context)
{
    agenda_at(agenda, agenda->now_ms + delay_ms, call, context);
}

static struct agenda_entry take_first(struct agenda *agenda)
{
    struct agenda_entry *heap = agenda->heap;
    const struct agenda_entry first = heap[0];
    size_t i = 0;
    heap[0] = heap[--agenda->n];
    for (size_t child = 1; child < agenda->n; child = 2 * i + 1) {
        if (child + 1 < agenda->n && is_before(&heap[child + 1], &heap[child]))
            child++;
        if (!is_before(&heap[child], &heap[i]))
            break;
        swap(&heap[child], &heap[i]);
        i = child;
    }
    return first;
}

bool agenda_step(struct agenda *agenda, int64_t end_ms)
{
    if (agenda->n == 0 || agenda->heap[0].at_ms > end_ms) {
        agenda->now_ms = end_ms;
        return false;
    }
    const struct agenda_entry entry = take_first(agenda);
    agenda->now_ms = entry.at_ms;
    entry.call(entry.context);
    return true;
}
