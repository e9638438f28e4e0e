/* Reads any text as a policy file. Nothing crashes, every message has a position, and an accepted
 * policy is printed so that it reads back to the same. */
#include "config/settings.h"
#include "require.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define TEXT_MAX ((size_t)4 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_reads_back(const struct settings *settings)
{
    struct settings again;
    struct buf text;
    struct buf text_again;
    struct err err;
    buf_init(&text, TEXT_MAX);
    buf_init(&text_again, TEXT_MAX);
    settings_init(&again);
    settings_print(settings, &text);
    require(settings_read_text(&again, "again", buf_text(&text), text.len, &err) == 0);
    settings_print(&again, &text_again);
    require(strcmp(buf_text(&text), buf_text(&text_again)) == 0);
    settings_fini(&again);
    buf_fini(&text);
    buf_fini(&text_again);
}

/* "file:LINE:COLUMN: " */
static bool has_place(const char *message)
{
    size_t file = strcspn(message, ":");
    size_t line = strspn(message + file + 1, "0123456789");
    const char *rest = message + file + 1 + line;
    return line > 0 && *rest == ':' && strspn(rest + 1, "0123456789") > 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct settings settings;
    struct err err = {.text = ""};
    settings_init(&settings);
    if (settings_read_text(&settings, "file", (const char *)data, size, &err) == 0)
        check_reads_back(&settings);
    else
        require(has_place(err.text));
    settings_fini(&settings);
    return 0;
}
