/*
 * setting: one configurable value: a row of the table in setting.c. Reading (setting_read.c),
 * printing (settings_print.c) and defaults walk that table. A new option is one row; a new kind of
 * value is one function in each of the two files.
 */
#ifndef CONFIG_SETTING_H
#define CONFIG_SETTING_H

#include "config/settings.h"
#include "config/syntax.h"
#include "formats/yaml_json.h"
#include "types/policy.h"

#include <jansson.h>

enum setting_kind {
    SETTING_WORD,    /* must equal the row's text; not stored */
    SETTING_TEXT,    /* char * */
    SETTING_NAMES,   /* char ** and a count: no duplicates */
    SETTING_ALIASES, /* struct gpu_model_alias * and a count */
    SETTING_DRIVERS, /* the policy's device drivers */
    SETTING_SWITCH,  /* bool */
    SETTING_CHOICE,  /* an enum, written as the name of its value */
    SETTING_COUNT,   /* size_t, a whole number */
    SETTING_DECIMAL, /* int64_t thousandths; the row's numbers are thousandths too */
    SETTING_BYTES,   /* size_t, an integer or a quantity */
    SETTING_CLIENTS, /* struct settings_clients */
    SETTING_QUOTAS,  /* the policy's quotas */
    SETTING_UNITS,   /* the policy's units */
    SETTING_CHOSEN,  /* struct namespace_choice: a label selector, or nothing */
    N_SETTING_KINDS
};

/* When a changed value takes effect. */
enum setting_change {
    SETTING_RESTART, /* at the next start */
    SETTING_LIVE,    /* when the file is read again */
    SETTING_LISTED,  /* the same, and objects are listed again: they were read by the old value */
};

/* The name of an enum value, counted from 0; NULL past the end. */
typedef const char *setting_choice(size_t value);

struct setting {
    const char *path; /* "key" or "section.key"; rows of a section are adjacent */
    enum setting_kind kind;
    enum setting_change change;
    size_t at;           /* offsetof in struct settings */
    size_t n_at;         /* offsetof of the count, if any */
    syntax_check *check; /* for the text, or each name */
    setting_choice *choice;
    size_t least, most; /* inclusive bounds of a number, or of how many names */
    size_t number;      /* default; for policy values see types/policy.c */
    const char *text;   /* default */
};

extern const struct setting SETTINGS[];
extern const size_t N_SETTINGS;

/* The path without the section, and the length of the section's name (0: none). */
const char *setting_key(const struct setting *setting);
size_t setting_section_len(const struct setting *setting);

/* Address of the value. */
void *setting_target(const struct setting *setting, struct settings *settings);
size_t *setting_count(const struct setting *setting, struct settings *settings);

/* Checks and stores the value, replacing lists and maps. -EINVAL sets err. */
int setting_read(const struct setting *setting, const struct yaml_file *file,
                 const struct yaml_value *at, struct settings *settings, struct err *err);

/* settings_print() of two: values that need a restart are those of fixed. */
void settings_print_mixed(const struct settings *changing, const struct settings *fixed,
                          struct buf *out);

/* Position of the key in the file; of its section if the key is absent. */
struct yaml_value setting_place(json_t *root, const char *section, const char *key,
                                const char *path);

struct mapping_reading; /* mapping.h */
/* Reads a value into the target. Returns 0, or -EINVAL with reading->err set. */
typedef int mapping_reader(const struct mapping_reading *reading, const struct yaml_value *at,
                           void *target);
/* Read models.units and deviceDrivers into the policy, and allowed client certificates into struct
 * settings_clients. Each replaces what was there. */
mapping_reader setting_read_units;
mapping_reader setting_read_drivers;
mapping_reader setting_read_clients;
void setting_fini_clients(struct settings_clients *clients);

/* Reads `quotas`: replaces the policy's quotas. gpuResources and models.aliases must have been read
 * before, because quotas are checked against them. -EINVAL sets err. */
int quotas_read(const struct yaml_file *file, const struct yaml_value *list, struct policy *policy,
                struct err *err);

#endif
