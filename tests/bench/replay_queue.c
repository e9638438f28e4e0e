/* replay_queue: see replay_queue.h. */
#include "replay_queue.h"
#include "base/mem.h"
#include "decide/fit.h"

#include <stdlib.h>

void replay_queue_fini(struct replay_queue *queue)
{
    for (size_t i = 0; i < queue->n_lines; i++)
        free(queue->lines[i].pods);
    free(queue->lines);
}

static struct replay_line *line_of(struct replay_queue *queue, const struct pod_shape *shape,
                                   int64_t gpus)
{
    for (size_t i = 0; i < queue->n_lines; i++) {
        if (queue->lines[i].shape == shape && queue->lines[i].gpus == gpus)
            return &queue->lines[i];
    }
    if (queue->n_lines == queue->room) {
        queue->room = 2 * queue->room + 64;
        queue->lines = mem_grow(queue->lines, queue->room, sizeof *queue->lines);
    }
    struct replay_line *line = &queue->lines[queue->n_lines++];
    *line = (struct replay_line){.shape = shape, .gpus = gpus};
    return line;
}

void replay_queue_add(struct replay_queue *queue, const struct waiting *pod,
                      const struct pod_shape *shape)
{
    struct replay_line *line = line_of(queue, shape, pod->coming.pod->gpus);
    if (line->end == line->room) {
        line->room = 2 * line->room + 16;
        line->pods = mem_grow(line->pods, line->room, sizeof *pod);
    }
    line->pods[line->end++] = *pod;
}

static struct waiting take_first(struct replay_queue *queue, struct replay_line *line)
{
    const struct waiting pod = line->pods[line->first++];
    if (line->first == line->end) {
        free(line->pods);
        *line = queue->lines[--queue->n_lines];
    }
    return pod;
}

void replay_queue_remove(struct replay_queue *queue, const struct group *group)
{
    for (size_t i = queue->n_lines; i-- > 0;) {
        struct replay_line *line = &queue->lines[i];
        size_t end = line->first;
        for (size_t k = line->first; k < line->end; k++) {
            if (line->pods[k].coming.group != group)
                line->pods[end++] = line->pods[k];
        }
        line->end = end;
        if (line->first == line->end) {
            free(line->pods);
            *line = queue->lines[--queue->n_lines];
        }
    }
}

bool replay_queue_take(struct replay_queue *queue, const struct node *node, int64_t free_gpus,
                       struct waiting *ret_pod)
{
    struct replay_line *best = NULL;
    for (size_t i = 0; i < queue->n_lines; i++) {
        struct replay_line *line = &queue->lines[i];
        if (best && line->pods[line->first].coming.id > best->pods[best->first].coming.id)
            continue;
        const struct fit_question question = {.shape = line->shape, .scope = FIT_ALL};
        if (line->gpus <= free_gpus && fit_judge(node, &question) == REASON_FITS)
            best = line;
    }
    if (!best)
        return false;
    *ret_pod = take_first(queue, best);
    return true;
}
