/* hidden: characters that change what others look like, or look like nothing. */
#ifndef BASE_HIDDEN_H
#define BASE_HIDDEN_H

#include <stdbool.h>

/* Whether the code point is a control or format character, a line or paragraph separator, or one
 * that Unicode calls "default ignorable", which programs without a glyph for it show as nothing.
 * The latter include code points that are not assigned yet. */
bool hidden_is_code(unsigned code);

#endif
