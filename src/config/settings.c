/* settings: walks a policy file. setting.c lists the settings, setting_read.c reads a value,
 * settings_print.c prints it. */
#include "config/settings.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "base/small_file.h"
#include "formats/json_get.h"
#include "setting.h"
#include "settings_check.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The error for an unknown key, with the nearest known one. */

#define WORD_MAX 48

/* A known key: a setting's, or a section's name (section ""). */
struct known_key {
    char section[WORD_MAX];
    char key[WORD_MAX];
};

static struct known_key key_of_setting(const struct setting *row)
{
    struct known_key known;
    (void)snprintf(known.section, sizeof known.section, "%.*s", (int)setting_section_len(row),
                   row->path);
    (void)snprintf(known.key, sizeof known.key, "%s", setting_key(row));
    return known;
}

/* The name of the row's section, or its key if it has none. */
static struct known_key outermost_key(const struct setting *row)
{
    struct known_key known = key_of_setting(row);
    if (known.section[0] == '\0')
        return known;
    struct known_key section = {.section = ""};
    memcpy(section.key, known.section, sizeof section.key);
    return section;
}

/* False: none is near. */
static bool find_nearest(const char *key, struct known_key *ret_nearest)
{
    struct nearest nearest = {.asked = key, .least = SIZE_MAX};
    for (const struct setting *row = SETTINGS; row < SETTINGS + N_SETTINGS; row++) {
        const struct known_key candidates[] = {key_of_setting(row), outermost_key(row)};
        for (size_t i = 0; i < 2; i++) {
            if (nearest_try(&nearest, candidates[i].key))
                *ret_nearest = candidates[i];
        }
    }
    return nearest.least < SIZE_MAX;
}

/* Writes the keys of a section: "verbs, people, probes". */
static void unknown_key_list(const char *section, struct buf *out)
{
    struct known_key last = {.key = ""};
    const char *separator = "";
    for (const struct setting *row = SETTINGS; row < SETTINGS + N_SETTINGS; row++) {
        struct known_key known = *section ? key_of_setting(row) : outermost_key(row);
        if (strcmp(known.section, section) != 0 || strcmp(known.key, last.key) == 0)
            continue;
        buf_printf(out, "%s%s", separator, known.key);
        separator = ", ";
        last = known;
    }
}

static void add_hint(const char *section, const char *key, struct buf *out)
{
    struct known_key nearest = {.section = "", .key = ""};
    const char *last_part = strrchr(key, '.') ? strrchr(key, '.') + 1 : key;
    if (!find_nearest(last_part, &nearest)) {
        buf_add_text(out, "known here: ");
        unknown_key_list(section, out);
    } else if (strcmp(nearest.section, section) == 0) {
        buf_printf(out, "did you mean %s?", nearest.key);
    } else if (nearest.section[0] == '\0') {
        buf_printf(out, "did you mean %s, outside of %s?", nearest.key, section);
    } else {
        buf_printf(out, "did you mean %s in %s?", nearest.key, nearest.section);
    }
}

/* section: "" at the top level. Returns -EINVAL with the key's position. */
static int unknown_key(const struct yaml_file *file, const char *section,
                       const struct yaml_value *at, struct err *err)
{
    struct buf hint;
    buf_init(&hint, ERR_TEXT_MAX);
    add_hint(section, at->key, &hint);
    const struct yaml_value key_only = {at->container, at->key, at->path, NULL};
    int r = yaml_fault(file, &key_only, err, "unknown key; %s", buf_text(&hint));
    buf_fini(&hint);
    return r;
}

#define PATH_TEXT_MAX 128

static const struct yaml_options YAML_LIMITS = {.max_depth = 16, .max_values = 10000};
/* Printed text may say at more length what a file says. */
static const struct yaml_options OWN_LIMITS = {.max_depth = 16, .max_values = 1000000};

/* filter returns all nodes that fit if our first choice may not win in kube-scheduler. */
static void derive(struct settings *settings)
{
    const struct settings_scheduler *scheduler = &settings->scheduler;
    const bool ours_wins =
        scheduler->weight >= SCHEDULER_WEIGHT_THAT_DECIDES && !scheduler->other_extenders;
    settings->policy.shortlist = ours_wins ? scheduler->shortlist : 0;
}

void settings_init(struct settings *ret_settings)
{
    *ret_settings = (struct settings){0};
    policy_init(&ret_settings->policy);
    for (const struct setting *row = SETTINGS; row < SETTINGS + N_SETTINGS; row++) {
        if (row->kind == SETTING_TEXT)
            *(char **)setting_target(row, ret_settings) = mem_strdup(row->text);
        else if (row->kind == SETTING_COUNT || row->kind == SETTING_BYTES)
            *(size_t *)setting_target(row, ret_settings) = row->number;
    }
    derive(ret_settings);
}

/* A manifest may have 100 levels (manifest.c); a body has some around it. */
#define REQUEST_DEPTH_MAX ((size_t)110)

struct json_budget settings_request_budget(const struct settings_limits *limits)
{
    return (struct json_budget){.max_values = limits->user_request_values,
                                .max_tree_bytes = limits->user_request_tree_bytes,
                                .max_depth = REQUEST_DEPTH_MAX,
                                .values_key = "limits.userRequestValues",
                                .bytes_key = "limits.userRequestTreeBytes"};
}

void settings_fini(struct settings *settings)
{
    for (const struct setting *row = SETTINGS; row < SETTINGS + N_SETTINGS; row++) {
        if (row->kind == SETTING_TEXT)
            mem_free_ptr(setting_target(row, settings));
        else if (row->kind == SETTING_CLIENTS)
            setting_fini_clients(setting_target(row, settings));
    }
    policy_fini(&settings->policy);
    *settings = (struct settings){0};
}

static bool is_in_section(const struct setting *row, const char *section)
{
    size_t len = setting_section_len(row);
    return strlen(section) == len && strncmp(row->path, section, len) == 0;
}

static const struct setting *find_setting(const char *section, const char *key)
{
    for (const struct setting *row = SETTINGS; row < SETTINGS + N_SETTINGS; row++) {
        if (is_in_section(row, section) && strcmp(setting_key(row), key) == 0)
            return row;
    }
    return NULL;
}

static bool is_section(const char *name)
{
    for (const struct setting *row = SETTINGS; row < SETTINGS + N_SETTINGS; row++) {
        if (*name && is_in_section(row, name))
            return true;
    }
    return false;
}

static int read_settings(const struct yaml_file *file, const char *section, json_t *object,
                         struct settings *settings, struct err *err);

static int read_section(const struct yaml_file *file, const struct yaml_value *at,
                        struct settings *settings, struct err *err)
{
    if (!json_is_object(at->value)) {
        struct buf right;
        buf_init(&right, ERR_TEXT_MAX);
        buf_add_text(&right, "a mapping of ");
        unknown_key_list(at->key, &right);
        int r = yaml_wrong(file, at, buf_text(&right), err);
        buf_fini(&right);
        return r;
    }
    return read_settings(file, at->key, at->value, settings, err);
}

/* A key without a value counts as absent. */
static int read_member(const struct yaml_file *file, const char *section,
                       const struct yaml_value *at, struct settings *settings, struct err *err)
{
    const struct setting *setting = find_setting(section, at->key);
    bool outermost = *section == '\0';
    if (!setting && !(outermost && is_section(at->key)))
        return unknown_key(file, section, at, err);
    if (json_is_null(at->value))
        return 0;
    if (setting)
        return setting_read(setting, file, at, settings, err);
    return read_section(file, at, settings, err);
}

/* In file order, so that the first fault in the file is reported. */
static int read_settings(const struct yaml_file *file, const char *section, json_t *object,
                         struct settings *settings, struct err *err)
{
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach (object, key, value) {
        char path[PATH_TEXT_MAX];
        (void)snprintf(path, sizeof path, "%s%s%s", section, *section ? "." : "", key);
        const struct yaml_value at = {object, key, path, value};
        int r = read_member(file, section, &at, settings, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Checked first: in a file of another kind every other error would mislead. */
static int check_words(const struct yaml_file *file, json_t *root, struct settings *settings,
                       struct err *err)
{
    for (const struct setting *row = SETTINGS; row < SETTINGS + N_SETTINGS; row++) {
        if (row->kind != SETTING_WORD)
            continue;
        const struct yaml_value at = {root, row->path, row->path, json_member(root, row->path)};
        if (!at.value)
            return yaml_fault(file, &at, err, "is missing, should be %s", row->text);
        int r = setting_read(row, file, &at, settings, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Last, because quotas are checked against values that may come later in the file. */
static int read_quotas(const struct yaml_file *file, json_t *root, struct settings *settings,
                       struct err *err)
{
    const struct yaml_value at = {root, "quotas", "quotas", json_member(root, "quotas")};
    return at.value ? quotas_read(file, &at, &settings->policy, err) : 0;
}

static int read_root(const struct yaml_file *file, json_t *root, struct settings *settings,
                     struct err *err)
{
    const struct yaml_value whole = {.path = "policy", .value = root};
    if (root && !json_is_object(root))
        return yaml_wrong(file, &whole, "a mapping with apiVersion, kind and more", err);
    int r = check_words(file, root, settings, err);
    if (r == 0)
        r = read_settings(file, "", root, settings, err);
    if (r == 0)
        r = settings_check(file, root, settings, err);
    if (r == 0)
        r = read_quotas(file, root, settings, err);
    if (r < 0)
        return r;
    derive(settings);
    settings_find_warnings(file, root, settings);
    return 0;
}

static int read_text(struct settings *settings, const char *file, const char *text, size_t len,
                     const struct yaml_options *limits, struct err *err)
{
    json_t *root = NULL;
    struct yaml_places *places = NULL;
    int r = yaml_read(text, len, limits, &root, &places, err);
    if (r < 0) {
        err_prefix(err, "%s:", file);
        return r;
    }
    r = read_root(&(struct yaml_file){file, places}, root, settings, err);
    json_decref(root);
    yaml_places_free(places);
    return r;
}

int settings_read_policy(const json_t *values, const struct policy **ret_policy, struct err *err)
{
    struct settings *settings = settings_new();
    int r = read_root(&(struct yaml_file){0}, (json_t *)(uintptr_t)values, settings, err);
    if (r < 0)
        policy_drop(&settings->policy);
    else
        *ret_policy = &settings->policy;
    return r;
}

int settings_read_text(struct settings *settings, const char *file, const char *text, size_t len,
                       struct err *err)
{
    return read_text(settings, file, text, len, &YAML_LIMITS, err);
}

int settings_merge(const struct settings *in_force, const struct settings *wanted,
                   struct settings *merged, struct err *err)
{
    struct buf text;
    buf_init(&text, BUF_UNBOUNDED); /* both are bounded */
    settings_print_mixed(wanted, in_force, &text);
    int r = read_text(merged, "with the values in force of keys that need a restart",
                      buf_text(&text), text.len, &OWN_LIMITS, err);
    buf_fini(&text);
    return r;
}

static void free_around(struct policy *policy)
{
    struct settings *settings = CONTAINER_OF(policy, struct settings, policy);
    settings_fini(settings);
    free(settings);
}

struct settings *settings_new(void)
{
    struct settings *settings = MEM_NEW(struct settings);
    settings_init(settings);
    settings->policy.unheld = free_around;
    (void)policy_hold(&settings->policy);
    return settings;
}

int settings_read_file(struct settings *settings, const char *path, struct err *err)
{
    struct buf text;
    buf_init(&text, SETTINGS_FILE_BYTES_MAX);
    int r = small_file_read(path, true, &text, err);
    if (r == -EFBIG)
        r = err_set(err, EFBIG, "%s: is larger than 1Mi, should be a policy file of at most 1Mi",
                    path);
    if (r == 0)
        r = settings_read_text(settings, path, buf_text(&text), text.len, err);
    buf_fini(&text);
    return r;
}
