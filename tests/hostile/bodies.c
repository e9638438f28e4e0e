/* bodies: see bodies.h. To add one, write a row in the table below. Bounds are about twice the
 * values seen; without budgets the bodies take up to 460 times their text. */
#include "bodies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MB ((size_t)1000 * 1000)
#define MIB ((double)1024 * 1024)

#define POD_HEAD                                                                                   \
    "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"dense\",\"namespace\":\"tenant\",\"uid\":\"u\"},"  \
    "\"spec\":{\"affinity\":{\"nodeAffinity\":{"                                                   \
    "\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":[{}"
#define POD_TAIL "]}}},\"containers\":[]}}"
#define DRY_RUN_OBJECT                                                                             \
    "{\"apiVersion\":\"visibility.gpu-extender.io/v1alpha1\",\"kind\":\"DryRun\",\"spec\":{"       \
    "\"objects\":[{}"

#define ASKED_POD                                                                                  \
    "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\"}]}" \
    "}"
#define NEXT_POD "," ASKED_POD
#define ASKED_LIST "{\"kind\":\"List\",\"items\":[" ASKED_POD
#define ASKED_OBJECTS                                                                              \
    "{\"apiVersion\":\"visibility.gpu-extender.io/v1alpha1\",\"kind\":\"DryRun\",\"spec\":{"       \
    "\"objects\":[" ASKED_POD
#define ASKED_WORKLOADS "{\"workloads\":[" ASKED_POD
/* Of 99 pods, as many as a dry run may judge on 5,000 nodes. */
#define ASKED_BYTES(head) (sizeof(head) - 1 + 98 * (sizeof(NEXT_POD) - 1))

const struct hostile_body BODIES[] = {
    /* name, target, reader, head, part, tail, bytes, objects, status, what it says, bytes, nodes */
    {"body-dry-run", "2.5 MB of {} as a manifest", READ_DRY_RUN, "{\"kind\":\"List\",\"items\":[{}",
     ",{}", "]}", 5 * MB / 2, 0, 413, "limits.userRequestTreeBytes", 60 * MIB, 0},
    {"body-dry-run-14", "14 MB of {} as a manifest", READ_DRY_RUN,
     "{\"kind\":\"List\",\"items\":[{}", ",{}", "]}", 14 * MB, 0, 413,
     "limits.userRequestTreeBytes", 60 * MIB, 0},
    {"body-dry-run-one", "an object of 15.7 MB as a manifest", READ_DRY_RUN, POD_HEAD, ",{}",
     POD_TAIL, 157 * MB / 10, 0, 413, "limits.userRequestTreeBytes", 60 * MIB, 0},
    {"body-dry-run-yaml", "17 MB of small YAML documents", READ_DRY_RUN, "", "---\nkind: A\n", "",
     17 * MB, 0, 413, "limits.userRequestTreeBytes", 20 * MIB, 0},
    {"body-object", "2.5 MB of {} as a DryRun", READ_DRY_RUN_OBJECT, DRY_RUN_OBJECT, ",{}", "]}}",
     5 * MB / 2, 0, 413, "values, should have at most 200000", 2 * MIB, 0},
    {"body-object-14", "14 MB of {} as a DryRun", READ_DRY_RUN_OBJECT, DRY_RUN_OBJECT, ",{}", "]}}",
     14 * MB, 0, 413, "values, should have at most 200000", 2 * MIB, 0},
    {"body-what-if-14", "14 MB of {} as a what-if", READ_WHAT_IF, "{\"workloads\":[{}", ",{}", "]}",
     14 * MB, 0, 413, "values, should have at most 200000", 2 * MIB, 0},
    {"body-what-if-63", "63 MB of {} as a what-if", READ_WHAT_IF, "{\"workloads\":[{}", ",{}", "]}",
     63 * MB, 0, 413, "values, should have at most 200000", 2 * MIB, 0},
    {"body-filter", "a Pod of 740,000 terms, 15 MB, for filter", READ_FILTER,
     "{\"NodeNames\":[\"node-0\"],\"Pod\":" POD_HEAD, ",{\"topologyKey\":\"a\"}", POD_TAIL "}",
     15 * MB, 0, 200, "values, should have at most 50000", 4 * MIB, 0},
    {"body-preempt", "a victim of 740,000 terms, 15 MB, for preempt", READ_PREEMPT,
     "{\"Pod\":{\"metadata\":{\"uid\":\"a\"}},\"NodeNameToVictims\":{\"node-0\":{\"Pods\":"
     "[" POD_HEAD,
     ",{\"topologyKey\":\"a\"}", POD_TAIL "]}}}", 15 * MB, 0, 200, "NodeNameToMetaVictims",
     60 * MIB, 0},
    {"body-preempt-escaped", "the same, with a key whose name is escaped", READ_PREEMPT,
     "{\"\\u0050od\":{\"metadata\":{\"uid\":\"a\"}},\"NodeNameToVictims\":{\"node-0\":{\"Pods\":"
     "[" POD_HEAD,
     ",{\"topologyKey\":\"a\"}", POD_TAIL "]}}}", 15 * MB, 0, 200, "NodeNameToMetaVictims",
     60 * MIB, 0},
    {"body-pods", "20 pods of 740,000 terms, relisted", READ_PODS, POD_HEAD, ",{}", POD_TAIL,
     22 * MB / 10, 20, 0, NULL, 20 * MIB, 0},
    {"answer-dry-run", "99 pods on 1,000 nodes, as JSON", READ_DRY_RUN, ASKED_LIST, NEXT_POD, "]}",
     ASKED_BYTES(ASKED_LIST), 0, 200, "99 of 99 ", 60 * MIB, 1000},
    {"answer-dry-run-table", "99 pods on 1,000 nodes, as a table", READ_DRY_RUN_TABLE, ASKED_LIST,
     NEXT_POD, "]}", ASKED_BYTES(ASKED_LIST), 0, 200, "99 of 99 ", 60 * MIB, 1000},
    {"answer-object", "99 pods on 1,000 nodes, as a DryRun", READ_DRY_RUN_OBJECT, ASKED_OBJECTS,
     NEXT_POD, "]}}", ASKED_BYTES(ASKED_OBJECTS), 0, 201, "99 of 99 ", 60 * MIB, 1000},
    {"answer-what-if", "99 pods on 1,000 nodes, as a what-if", READ_WHAT_IF, ASKED_WORKLOADS,
     NEXT_POD, "]}", ASKED_BYTES(ASKED_WORKLOADS), 0, 200, "\"workloads\"", 60 * MIB, 1000},
};

const size_t N_BODIES = sizeof BODIES / sizeof *BODIES;

char *bodies_text(const struct hostile_body *body)
{
    const size_t n_part = strlen(body->part);
    char *text = malloc(body->n_bytes + n_part + strlen(body->tail) + 1);
    if (!text)
        abort();
    size_t len = (size_t)sprintf(text, "%s", body->head);
    for (; len < body->n_bytes; len += n_part)
        memcpy(text + len, body->part, n_part);
    memcpy(text + len, body->tail, strlen(body->tail) + 1);
    return text;
}
