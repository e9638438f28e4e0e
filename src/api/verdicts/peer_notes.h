/* peer_notes: what verdicts leave out of affinity between pods and topology spread. Private to api.
 */
#ifndef API_VERDICTS_PEER_NOTES_H
#define API_VERDICTS_PEER_NOTES_H

#include "base/arena.h"

#include <jansson.h>
#include <stdbool.h>

struct cluster;
struct peer_rules;

/* Adds to the lines under notEvaluated. rules NULL: none. lacks_own: as lacks_peers of the asking
 * pod. */
void peer_notes_add(const struct cluster *fork, const struct peer_rules *rules, bool lacks_own,
                    struct arena *arena, json_t *notes);

#endif
