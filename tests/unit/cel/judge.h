/* judge: one expression over one device of a driver, as a text. */
#ifndef JUDGE_H
#define JUDGE_H

#include "cel/cel.h"

/* "true", "false", "error: ...", "invalid: ..." or "not judged: ...". In the arena. The device has
 * the facts of judge.c. */
const char *judge(const char *expression, struct arena *arena);

#endif
