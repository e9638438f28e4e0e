/* age_text: how long ago something was, for people. Private to api. */
#ifndef API_AGE_TEXT_H
#define API_AGE_TEXT_H

#include "base/arena.h"

#include <stdint.h>

/* "45s", "12m", "7h5m", "3d4h" */
const char *age_text(int64_t seconds, struct arena *arena);

#endif
