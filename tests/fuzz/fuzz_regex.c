/* Compiles any text up to its first line feed as a pattern, and looks for it in the rest. Nothing
 * crashes; a group around the pattern changes nothing, unless \Q may quote
 * its end. */
#include "base/mem.h"
#include "lexer.h"
#include "regex.h"
#include "require.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_valid(const struct cel_regex *regex, enum cel_verdict verdict)
{
    require((regex != NULL) == (verdict == CEL_VALID));
    require(!regex || cel_regex_size(regex) > 0);
    return regex != NULL;
}

static void check(struct cel_text pattern, struct cel_text text, struct arena *arena)
{
    enum cel_verdict verdict = CEL_VALID;
    const struct cel_regex *regex = cel_regex_compile(pattern, arena, &verdict);
    if (!is_valid(regex, verdict) || memmem(pattern.bytes, pattern.len, "\\Q", 2))
        return;
    const char *grouped = arena_printf(arena, "(?:%.*s)", (int)pattern.len, pattern.bytes);
    const struct cel_text whole = {grouped, strlen(grouped)};
    const struct cel_regex *other = cel_regex_compile(whole, arena, &verdict);
    require(verdict != CEL_INVALID);
    if (is_valid(other, verdict))
        require(cel_regex_match(regex, text, arena) == cel_regex_match(other, text, arena));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    const char *copy = arena_strndup(arena, (const char *)data, size);
    const char *end = strchrnul(copy, '\n');
    const struct cel_text pattern = {copy, (size_t)(end - copy)};
    const struct cel_text text = {*end ? end + 1 : end, strlen(*end ? end + 1 : end)};
    if (cel_utf8_is_valid(pattern) && cel_utf8_is_valid(text))
        check(pattern, text, arena);
    return 0;
}
