/* peer_notes: see verdict.h. */
#include "api/verdicts/verdict.h"
#include "decide/peer_rules.h"

void peer_notes_add(const struct cluster *fork, const struct peer_rules *rules, bool lacks_own,
                    struct arena *arena, json_t *notes)
{
    const size_t n = cluster_n_lacking_peers(fork);
    if (peer_rules_are_cut(rules))
        (void)json_array_append_new(
            notes, json_string("affinity between pods: not judged against all pods, as that would "
                               "take too many comparisons"));
    if (peer_rules_may_spread_over_all(rules))
        (void)json_array_append_new(
            notes, json_string("topology spread: an empty labelSelector counts no pod here, as in "
                               "kube-scheduler up to 1.37; from 1.38 on, all of the namespace"));
    if (n > 0)
        (void)json_array_append_new(
            notes,
            json_string(arena_printf(
                arena,
                "affinity between pods: not judged against %zu pods, whose labels or terms are "
                "over "
                "limits.podShapeBytes or limits.podShapesBytes, or not shown by the watch yet",
                n)));
    if (lacks_own)
        (void)json_array_append_new(
            notes,
            json_string("affinity between pods: the pod's own labels or terms are not kept"));
}
