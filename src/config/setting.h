/*
 * setting: one configurable value, as a row of the table in setting.c. Reading (setting_read.c),
 * printing (settings_print.c) and the defaults all walk that table, so that a new option is one
 * row, and a new kind of value is one function in each of the two.
 */
#ifndef CONFIG_SETTING_H
#define CONFIG_SETTING_H

#include "config/settings.h"
#include "formats/yaml_fault.h"
#include "syntax.h"

#include <jansson.h>

enum setting_kind {
    SETTING_WORD,    /* must be the row's text; nothing is stored */
    SETTING_TEXT,    /* char * */
    SETTING_NAMES,   /* char ** and a count, at least one, each once */
    SETTING_ALIASES, /* struct gpu_model_alias * and a count */
    SETTING_SWITCH,  /* bool */
    SETTING_CHOICE,  /* an enum, by the names of its values */
    SETTING_COUNT,   /* size_t, a whole number */
    SETTING_DECIMAL, /* int64_t thousandths; the row's numbers are thousandths too */
    SETTING_BYTES,   /* size_t, a whole number or a quantity */
    SETTING_CLIENTS, /* struct settings_clients: clients.h */
    SETTING_QUOTAS,  /* the policy's quotas: quota_read.h */
    N_SETTING_KINDS
};

/* The name of an enum's value, from 0; NULL past the end. */
typedef const char *setting_choice(size_t value);

struct setting {
    const char *path; /* "key" or "section.key"; rows of a section stand together */
    enum setting_kind kind;
    size_t at;           /* offsetof in struct settings */
    size_t n_at;         /* of the count, where there is one */
    syntax_check *check; /* of the text, or of each name */
    setting_choice *choice;
    size_t least, most; /* of a number, both allowed */
    size_t number;      /* the default; that of the policy's values stands in types/policy.c */
    const char *text;   /* the default */
};

extern const struct setting SETTINGS[];
extern const size_t N_SETTINGS;

/* The path after the section, and the length of the section's name (0: none). */
const char *setting_key(const struct setting *setting);
size_t setting_section_len(const struct setting *setting);

/* Where the value stands. */
void *setting_target(const struct setting *setting, struct settings *settings);
size_t *setting_count(const struct setting *setting, struct settings *settings);

/* Checks the value and stores it; lists and maps replace what was there. -EINVAL and a message. */
int setting_read(const struct setting *setting, const struct yaml_file *file,
                 const struct yaml_value *at, struct settings *settings, struct err *err);

/* Where the file has the key; else its section. */
struct yaml_value setting_place(json_t *root, const char *section, const char *key,
                                const char *path);

#endif
