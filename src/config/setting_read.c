/* setting_read: checks and stores one value of the policy file. See setting.h. Every error states
 * the position, the value found and what would be right. */
#include "setting.h"

#include "base/mem.h"
#include "formats/json_get.h"
#include "mapping.h"
#include "types/quantity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns 0 and the borrowed text if the value is text that passes the check. */
static int read_checked_text(const struct yaml_file *file, const struct yaml_value *at,
                             syntax_check *check, const char **ret_text, struct err *err)
{
    if (!json_is_string(at->value)) {
        bool has_quotes_left_out = json_is_number(at->value) || json_is_boolean(at->value);
        return yaml_wrong(file, at, has_quotes_left_out ? "a string, in quotes" : "a string", err);
    }
    const char *text = json_string_value(at->value);
    const char *right = check(text);
    if (right)
        return yaml_wrong(file, at, right, err);
    *ret_text = text;
    return 0;
}

static int read_word(const struct setting *setting, const struct yaml_file *file,
                     const struct yaml_value *at, struct settings *settings, struct err *err)
{
    (void)settings;
    const char *text = json_string_value(at->value);
    if (!text || strcmp(text, setting->text) != 0)
        return yaml_wrong(file, at, setting->text, err);
    return 0;
}

static int read_text(const struct setting *setting, const struct yaml_file *file,
                     const struct yaml_value *at, struct settings *settings, struct err *err)
{
    const char *text = NULL;
    int r = read_checked_text(file, at, setting->check, &text, err);
    if (r < 0)
        return r;
    char **target = setting_target(setting, settings);
    free(*target);
    *target = mem_strdup(text);
    return 0;
}

/* One item of a list. */
struct item {
    char key[24];
    char path[64];
    struct yaml_value at;
};

static void item_init(struct item *ret_item, const struct yaml_value *list, size_t i)
{
    (void)snprintf(ret_item->key, sizeof ret_item->key, "%zu", i);
    (void)snprintf(ret_item->path, sizeof ret_item->path, "%s[%zu]", list->path, i);
    ret_item->at = (struct yaml_value){list->value, ret_item->key, ret_item->path,
                                       json_array_get(list->value, i)};
}

static int check_is_new(const struct yaml_file *file, const struct yaml_value *list,
                        const struct item *item, size_t n_before, struct err *err)
{
    for (size_t i = 0; i < n_before; i++) {
        const char *text = json_string_value(json_array_get(list->value, i));
        if (strcmp(text, json_string_value(item->at.value)) == 0)
            return yaml_fault(file, &item->at, err,
                              "is \"%s\", a duplicate of %s[%zu], should be listed once", text,
                              list->path, i);
    }
    return 0;
}

static int check_names(const struct setting *setting, const struct yaml_file *file,
                       const struct yaml_value *list, struct err *err)
{
    size_t n = json_array_size(list->value);
    if (n == 0 && json_is_array(list->value))
        return yaml_fault(file, list, err, "is empty, should be a list of at least one name");
    if (n == 0)
        return yaml_wrong(file, list, "a list of names", err);
    for (size_t i = 0; i < n; i++) {
        struct item item;
        const char *text = NULL;
        item_init(&item, list, i);
        int r = read_checked_text(file, &item.at, setting->check, &text, err);
        if (r == 0)
            r = check_is_new(file, list, &item, i, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int read_names(const struct setting *setting, const struct yaml_file *file,
                      const struct yaml_value *at, struct settings *settings, struct err *err)
{
    int r = check_names(setting, file, at, err);
    if (r < 0)
        return r;
    char ***names = setting_target(setting, settings);
    size_t *n_names = setting_count(setting, settings);
    for (size_t i = 0; i < *n_names; i++)
        free((*names)[i]);
    *n_names = json_array_size(at->value);
    *names = mem_grow(*names, *n_names, sizeof **names);
    for (size_t i = 0; i < *n_names; i++)
        (*names)[i] = mem_strdup(json_string_value(json_array_get(at->value, i)));
    return 0;
}

/* An alias before this one that is read as the same name; NULL: none. */
static const char *find_equal_alias(json_t *map, const char *from)
{
    const char *other = NULL;
    json_t *to = NULL;
    json_object_foreach (map, other, to) {
        if (strcmp(other, from) == 0)
            return NULL;
        if (gpu_model_alias_equal(other, from))
            return other;
    }
    return NULL;
}

/* The alias is the key, so a fault points at the key. */
static int check_alias(const struct yaml_file *file, const struct yaml_value *map, const char *from,
                       json_t *to, struct err *err)
{
    struct buf path;
    buf_init(&path, ERR_TEXT_MAX);
    buf_printf(&path, "%s.%s", map->path, from);
    const struct yaml_value key = {map->value, from, buf_text(&path), NULL};
    const struct yaml_value value = {map->value, from, buf_text(&path), to};
    const char *right = syntax_alias(from);
    const char *other = right ? NULL : find_equal_alias(map->value, from);
    const char *text = NULL;
    int r = right   ? yaml_fault(file, &key, err, "is not an alias, should be %s", right)
            : other ? yaml_fault(file, &key, err,
                                 "is the same name as %s, should be listed once (case and "
                                 "separators do not count)",
                                 other)
                    : read_checked_text(file, &value, syntax_model, &text, err);
    buf_fini(&path);
    return r;
}

static int check_aliases(const struct yaml_file *file, const struct yaml_value *map,
                         struct err *err)
{
    const char *from = NULL;
    json_t *to = NULL;
    if (!json_is_object(map->value))
        return yaml_wrong(file, map, "a mapping of names to model names", err);
    json_object_foreach (map->value, from, to) {
        int r = check_alias(file, map, from, to, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int read_aliases(const struct setting *setting, const struct yaml_file *file,
                        const struct yaml_value *at, struct settings *settings, struct err *err)
{
    int r = check_aliases(file, at, err);
    if (r < 0)
        return r;
    struct gpu_model_alias **aliases = setting_target(setting, settings);
    size_t *n_aliases = setting_count(setting, settings);
    for (size_t i = 0; i < *n_aliases; i++) {
        mem_free_ptr(&(*aliases)[i].from);
        mem_free_ptr(&(*aliases)[i].to);
    }
    *aliases = mem_grow(*aliases, json_object_size(at->value), sizeof **aliases);
    *n_aliases = 0;
    const char *from = NULL;
    json_t *to = NULL;
    json_object_foreach (at->value, from, to) {
        (*aliases)[(*n_aliases)++] =
            (struct gpu_model_alias){mem_strdup(from), mem_strdup(json_string_value(to))};
    }
    return 0;
}

static int read_switch(const struct setting *setting, const struct yaml_file *file,
                       const struct yaml_value *at, struct settings *settings, struct err *err)
{
    if (!json_is_boolean(at->value))
        return yaml_wrong(file, at, "true or false", err);
    *(bool *)setting_target(setting, settings) = json_is_true(at->value);
    return 0;
}

/* All enums in the settings have the size of unsigned. */
static int read_choice(const struct setting *setting, const struct yaml_file *file,
                       const struct yaml_value *at, struct settings *settings, struct err *err)
{
    const char *text = json_string_value(at->value);
    struct buf right;
    buf_init(&right, ERR_TEXT_MAX);
    for (size_t i = 0; setting->choice(i); i++) {
        if (text && strcmp(text, setting->choice(i)) == 0) {
            *(unsigned *)setting_target(setting, settings) = (unsigned)i;
            buf_fini(&right);
            return 0;
        }
        buf_printf(&right, "%s%s", i > 0 ? " or " : "", setting->choice(i));
    }
    int r = yaml_wrong(file, at, buf_text(&right), err);
    buf_fini(&right);
    return r;
}

static bool is_in_range(const struct setting *setting, int64_t number)
{
    return number >= 0 && (uint64_t)number >= setting->least && (uint64_t)number <= setting->most;
}

static int read_count(const struct setting *setting, const struct yaml_file *file,
                      const struct yaml_value *at, struct settings *settings, struct err *err)
{
    char right[80];
    (void)snprintf(right, sizeof right, "a whole number from %zu to %zu", setting->least,
                   setting->most);
    if (!json_is_integer(at->value) || !is_in_range(setting, json_integer_value(at->value)))
        return yaml_wrong(file, at, right, err);
    *(size_t *)setting_target(setting, settings) = (size_t)json_integer_value(at->value);
    return 0;
}

/* A number, or the text of one, as GET /v1/policy writes it. */
static bool is_milli(const json_t *value, int64_t *ret_milli)
{
    const char *text = json_string_value(value);
    double number = json_number_value(value);
    char *end = NULL;
    if (text) {
        number = strtod(text, &end);
        if (!text[0] || text[strspn(text, "0123456789.")] || *end)
            return false;
    }
    const double milli = number * 1000;
    if ((!text && !json_is_number(value)) || milli < 0 || milli > 1e12)
        return false;
    *ret_milli = (int64_t)(milli + 0.5);
    return fabs(milli - (double)*ret_milli) < 1e-3;
}

static int read_decimal(const struct setting *setting, const struct yaml_file *file,
                        const struct yaml_value *at, struct settings *settings, struct err *err)
{
    int64_t milli = 0;
    char right[96];
    (void)snprintf(right, sizeof right, "a number from %zu to %zu with at most three decimals",
                   setting->least / 1000, setting->most / 1000);
    if (!is_milli(at->value, &milli) || !is_in_range(setting, milli))
        return yaml_wrong(file, at, right, err);
    *(int64_t *)setting_target(setting, settings) = milli;
    return 0;
}

static int read_bytes(const struct setting *setting, const struct yaml_file *file,
                      const struct yaml_value *at, struct settings *settings, struct err *err)
{
    int64_t bytes = -1;
    if (json_is_integer(at->value))
        bytes = json_integer_value(at->value);
    else if (json_is_string(at->value))
        (void)quantity_whole(json_string_value(at->value), &bytes, NULL);
    char least[32];
    char most[32];
    char right[120];
    (void)snprintf(right, sizeof right, "bytes from %s to %s, such as 67108864 or 64Mi",
                   quantity_bytes_text((int64_t)setting->least, least),
                   quantity_bytes_text((int64_t)setting->most, most));
    if (!is_in_range(setting, bytes))
        return yaml_wrong(file, at, right, err);
    *(size_t *)setting_target(setting, settings) = (size_t)bytes;
    return 0;
}

static int read_clients(const struct setting *setting, const struct yaml_file *file,
                        const struct yaml_value *at, struct settings *settings, struct err *err)
{
    return setting_read_clients(file, at, setting_target(setting, settings), err);
}

static int read_drivers(const struct setting *setting, const struct yaml_file *file,
                        const struct yaml_value *at, struct settings *settings, struct err *err)
{
    return setting_read_drivers(file, at, setting_target(setting, settings), err);
}

static int read_units(const struct setting *setting, const struct yaml_file *file,
                      const struct yaml_value *at, struct settings *settings, struct err *err)
{
    return setting_read_units(file, at, setting_target(setting, settings), err);
}

/* settings.c reads these after all others. */
static int read_later(const struct setting *setting, const struct yaml_file *file,
                      const struct yaml_value *at, struct settings *settings, struct err *err)
{
    (void)setting;
    (void)file;
    (void)at;
    (void)settings;
    (void)err;
    return 0;
}

typedef int setting_reader(const struct setting *setting, const struct yaml_file *file,
                           const struct yaml_value *at, struct settings *settings, struct err *err);

static int read_chosen(const struct setting *setting, const struct yaml_file *file,
                       const struct yaml_value *at, struct settings *settings, struct err *err)
{
    struct namespace_choice *choice = setting_target(setting, settings);
    const struct mapping_reading reading = {file, &settings->policy, choice->arena, err};
    choice->is_set = true;
    choice->selector = (struct selector_term){0};
    return selector_read(&reading, at, &choice->selector);
}

static setting_reader *const READERS[N_SETTING_KINDS] = {
    [SETTING_WORD] = read_word,     [SETTING_TEXT] = read_text,
    [SETTING_NAMES] = read_names,   [SETTING_ALIASES] = read_aliases,
    [SETTING_SWITCH] = read_switch, [SETTING_CHOICE] = read_choice,
    [SETTING_COUNT] = read_count,   [SETTING_DECIMAL] = read_decimal,
    [SETTING_BYTES] = read_bytes,   [SETTING_CLIENTS] = read_clients,
    [SETTING_QUOTAS] = read_later,  [SETTING_DRIVERS] = read_drivers,
    [SETTING_CHOSEN] = read_chosen, [SETTING_UNITS] = read_units,
};

int setting_read(const struct setting *setting, const struct yaml_file *file,
                 const struct yaml_value *at, struct settings *settings, struct err *err)
{
    return READERS[setting->kind](setting, file, at, settings, err);
}

struct yaml_value setting_place(json_t *root, const char *section, const char *key,
                                const char *path)
{
    json_t *object = json_member(root, section);
    json_t *value = json_member(object, key);
    if (value)
        return (struct yaml_value){object, key, path, value};
    return (struct yaml_value){root, section, path, object};
}
