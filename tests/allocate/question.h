/*
 * question: a node, ResourceSlices, DeviceClasses and ResourceClaims as JSON, for allocate/.
 */
#ifndef TESTS_ALLOCATE_QUESTION_H
#define TESTS_ALLOCATE_QUESTION_H

#include "dra/allocate.h"

#include <jansson.h>

/* {"node", "slices", "classes", "claims" (of the pod), "others" (allocated ones), "maxSteps"}.
 * Borrows from json. */
struct allocate_question question_from_json(const json_t *json, struct arena *arena);

#endif
