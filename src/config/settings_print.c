/* settings_print: the policy in force, as a file that reads back to the same settings. Only strings
 * that any YAML reader takes for nothing else stand without quotes. */
#include "config/settings.h"

#include "core/quantity.h"
#include "setting.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* YAML 1.1 reads these as something else than a string. */
static const char *const WORDS_OF_YAML[] = {"y",  "n",   "yes",  "no",    "true",
                                            "on", "off", "null", "false", NULL};

static bool is_plain(const char *text)
{
    for (const char *const *word = WORDS_OF_YAML; *word; word++) {
        if (strcasecmp(text, *word) == 0)
            return false;
    }
    for (const char *p = text; *p; p++) {
        if (!isascii(*p) || (!isalnum((unsigned char)*p) && !strchr("-_./*", *p)))
            return false;
    }
    return isalpha((unsigned char)text[0]);
}

/* A buffer that is full stays as it is; the caller chose its size. */
static void add_text(struct buf *out, const char *text)
{
    if (is_plain(text))
        (void)buf_add_text(out, text);
    else
        (void)buf_add_quoted(out, text);
}

static void add_indent(struct buf *out, const struct setting *setting)
{
    if (setting_section_len(setting) > 0)
        (void)buf_add_text(out, "  ");
}

static void print_word(const struct setting *setting, struct settings *settings, struct buf *out)
{
    (void)settings;
    (void)buf_printf(out, " %s\n", setting->text);
}

static void print_text(const struct setting *setting, struct settings *settings, struct buf *out)
{
    char *const *text = setting_target(setting, settings);
    (void)buf_add_text(out, " ");
    add_text(out, *text);
    (void)buf_add_text(out, "\n");
}

static void print_names(const struct setting *setting, struct settings *settings, struct buf *out)
{
    char **const *names = setting_target(setting, settings);
    size_t n = *setting_count(setting, settings);
    (void)buf_add_text(out, "\n");
    for (size_t i = 0; i < n; i++) {
        add_indent(out, setting);
        (void)buf_add_text(out, "  - ");
        add_text(out, (*names)[i]);
        (void)buf_add_text(out, "\n");
    }
}

static void print_aliases(const struct setting *setting, struct settings *settings, struct buf *out)
{
    struct gpu_model_alias *const *aliases = setting_target(setting, settings);
    size_t n = *setting_count(setting, settings);
    (void)buf_add_text(out, n > 0 ? "\n" : " {}\n");
    for (size_t i = 0; i < n; i++) {
        add_indent(out, setting);
        (void)buf_add_text(out, "  ");
        add_text(out, (*aliases)[i].from);
        (void)buf_add_text(out, ": ");
        add_text(out, (*aliases)[i].to);
        (void)buf_add_text(out, "\n");
    }
}

static void print_switch(const struct setting *setting, struct settings *settings, struct buf *out)
{
    const bool *is_on = setting_target(setting, settings);
    (void)buf_add_text(out, *is_on ? " true\n" : " false\n");
}

static void print_choice(const struct setting *setting, struct settings *settings, struct buf *out)
{
    const unsigned *value = setting_target(setting, settings);
    (void)buf_printf(out, " %s\n", setting->choice(*value));
}

static void print_count(const struct setting *setting, struct settings *settings, struct buf *out)
{
    const size_t *count = setting_target(setting, settings);
    (void)buf_printf(out, " %zu\n", *count);
}

static void print_bytes(const struct setting *setting, struct settings *settings, struct buf *out)
{
    const size_t *bytes = setting_target(setting, settings);
    char text[32];
    (void)buf_printf(out, " %s\n", quantity_bytes_text((int64_t)*bytes, text));
}

/* Writes what follows "key:". */
typedef void setting_printer(const struct setting *setting, struct settings *settings,
                             struct buf *out);

static setting_printer *const PRINTERS[N_SETTING_KINDS] = {
    [SETTING_WORD] = print_word,     [SETTING_TEXT] = print_text,
    [SETTING_NAMES] = print_names,   [SETTING_ALIASES] = print_aliases,
    [SETTING_SWITCH] = print_switch, [SETTING_CHOICE] = print_choice,
    [SETTING_COUNT] = print_count,   [SETTING_BYTES] = print_bytes,
};

static bool begins_section(const struct setting *row)
{
    size_t len = setting_section_len(row);
    if (len == 0)
        return false;
    return row == SETTINGS || strncmp(row->path, row[-1].path, len + 1) != 0;
}

void settings_print(const struct settings *settings, struct buf *out)
{
    struct settings view = *settings; /* the table's offsets lead to what may be written */
    for (const struct setting *row = SETTINGS; row < SETTINGS + N_SETTINGS; row++) {
        if (begins_section(row))
            (void)buf_printf(out, "%.*s:\n", (int)setting_section_len(row), row->path);
        add_indent(out, row);
        (void)buf_printf(out, "%s:", setting_key(row));
        PRINTERS[row->kind](row, &view, out);
    }
}
