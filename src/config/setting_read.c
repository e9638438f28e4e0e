/* setting_read: checks and stores one value of the policy file. See setting.h. Every error states
 * the position, the value found and what would be right. */
#include "setting.h"

#include "base/mem.h"
#include "formats/json_values.h"
#include "mapping.h"
#include "types/quantity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns 0 and the borrowed text if the value is text that passes the check. */
static int read_checked_text(const struct mapping_reading *reading, const struct yaml_value *at,
                             syntax_check *check, const char **ret_text)
{
    if (!json_is_string(at->value)) {
        bool has_quotes_left_out = json_is_number(at->value) || json_is_boolean(at->value);
        return yaml_wrong(reading->file, at,
                          has_quotes_left_out ? "a string, in quotes" : "a string", reading->err);
    }
    const char *text = json_string_value(at->value);
    const char *right = check(text);
    if (right)
        return yaml_wrong(reading->file, at, right, reading->err);
    *ret_text = text;
    return 0;
}

static int read_word(const struct mapping_reading *reading, const struct yaml_value *at,
                     void *target)
{
    (void)target;
    const char *text = json_string_value(at->value);
    if (!text || strcmp(text, reading->setting->text) != 0)
        return yaml_wrong(reading->file, at, reading->setting->text, reading->err);
    return 0;
}

static int read_text(const struct mapping_reading *reading, const struct yaml_value *at,
                     void *target)
{
    const char *text = NULL;
    int r = read_checked_text(reading, at, reading->setting->check, &text);
    if (r < 0)
        return r;
    char **kept = target;
    free(*kept);
    *kept = mem_strdup(text);
    return 0;
}

static int check_is_new(const struct mapping_reading *reading, const struct yaml_value *list,
                        const struct yaml_value *item, size_t n_before)
{
    for (size_t i = 0; i < n_before; i++) {
        const char *text = json_string_value(json_array_get(list->value, i));
        if (strcmp(text, json_string_value(item->value)) == 0)
            return yaml_fault(reading->file, item, reading->err,
                              "is \"%s\", a duplicate of %s[%zu], should be listed once", text,
                              list->path, i);
    }
    return 0;
}

static int check_names(const struct mapping_reading *reading, const struct yaml_value *list)
{
    size_t n = json_array_size(list->value);
    const struct setting *setting = reading->setting;
    if (!json_is_array(list->value))
        return yaml_wrong(reading->file, list, "a list of names", reading->err);
    if (n < setting->least)
        return yaml_fault(reading->file, list, reading->err,
                          "is empty, should be a list of at least one name");
    if (n > setting->most)
        return yaml_fault(reading->file, list, reading->err,
                          "has %zu names, should have at most %zu", n, setting->most);
    for (size_t i = 0; i < n; i++) {
        struct mapping_spot spot;
        const char *text = NULL;
        mapping_item(list, i, &spot);
        int r = read_checked_text(reading, &spot.at, reading->setting->check, &text);
        if (r == 0)
            r = check_is_new(reading, list, &spot.at, i);
        if (r < 0)
            return r;
    }
    return 0;
}

static int read_names(const struct mapping_reading *reading, const struct yaml_value *at,
                      void *target)
{
    int r = check_names(reading, at);
    if (r < 0)
        return r;
    char ***names = target;
    size_t *n_names = setting_count(reading->setting, reading->settings);
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
static int check_alias(const struct mapping_reading *reading, const struct yaml_value *map,
                       const char *from, json_t *to)
{
    struct buf path;
    buf_init(&path, ERR_TEXT_MAX);
    buf_printf(&path, "%s.%s", map->path, from);
    const struct yaml_value key = {map->value, from, buf_text(&path), NULL};
    const struct yaml_value value = {map->value, from, buf_text(&path), to};
    const char *right = syntax_alias(from);
    const char *other = right ? NULL : find_equal_alias(map->value, from);
    const char *text = NULL;
    int r = right   ? yaml_fault(reading->file, &key, reading->err, "is not an alias, should be %s",
                                 right)
            : other ? yaml_fault(reading->file, &key, reading->err,
                                 "is the same name as %s, should be listed once (case and "
                                 "separators do not count)",
                                 other)
                    : read_checked_text(reading, &value, syntax_model, &text);
    buf_fini(&path);
    return r;
}

static int check_aliases(const struct mapping_reading *reading, const struct yaml_value *map)
{
    const char *from = NULL;
    json_t *to = NULL;
    if (!json_is_object(map->value))
        return yaml_wrong(reading->file, map, "a mapping of names to model names", reading->err);
    json_object_foreach (map->value, from, to) {
        int r = check_alias(reading, map, from, to);
        if (r < 0)
            return r;
    }
    return 0;
}

static int read_aliases(const struct mapping_reading *reading, const struct yaml_value *at,
                        void *target)
{
    int r = check_aliases(reading, at);
    if (r < 0)
        return r;
    struct gpu_model_alias **aliases = target;
    size_t *n_aliases = setting_count(reading->setting, reading->settings);
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

static int read_switch(const struct mapping_reading *reading, const struct yaml_value *at,
                       void *target)
{
    if (!json_is_boolean(at->value))
        return yaml_wrong(reading->file, at, "true or false", reading->err);
    *(bool *)target = json_is_true(at->value);
    return 0;
}

/* All enums in the settings have the size of unsigned. YAML reads off without quotes as false. */
static int read_choice(const struct mapping_reading *reading, const struct yaml_value *at,
                       void *target)
{
    const struct setting *setting = reading->setting;
    /* YAML reads off as false. */
    const char *text = json_is_false(at->value) ? "off" : json_string_value(at->value);
    struct buf right;
    buf_init(&right, ERR_TEXT_MAX);
    for (size_t i = 0; setting->choice(i); i++) {
        if (text && strcmp(text, setting->choice(i)) == 0) {
            *(unsigned *)target = (unsigned)i;
            buf_fini(&right);
            return 0;
        }
        buf_printf(&right, "%s%s", i > 0 ? " or " : "", setting->choice(i));
    }
    int r = yaml_wrong(reading->file, at, buf_text(&right), reading->err);
    buf_fini(&right);
    return r;
}

static bool is_in_range(const struct setting *setting, int64_t number)
{
    return number >= 0 && (uint64_t)number >= setting->least && (uint64_t)number <= setting->most;
}

static int read_count(const struct mapping_reading *reading, const struct yaml_value *at,
                      void *target)
{
    const struct setting *setting = reading->setting;
    char right[80];
    (void)snprintf(right, sizeof right, "a whole number from %zu to %zu", setting->least,
                   setting->most);
    if (!json_is_integer(at->value) || !is_in_range(setting, json_integer_value(at->value)))
        return yaml_wrong(reading->file, at, right, reading->err);
    *(size_t *)target = (size_t)json_integer_value(at->value);
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

static int read_decimal(const struct mapping_reading *reading, const struct yaml_value *at,
                        void *target)
{
    const struct setting *setting = reading->setting;
    int64_t milli = 0;
    char right[96];
    (void)snprintf(right, sizeof right, "a number from %zu to %zu with at most three decimals",
                   setting->least / 1000, setting->most / 1000);
    if (!is_milli(at->value, &milli) || !is_in_range(setting, milli))
        return yaml_wrong(reading->file, at, right, reading->err);
    *(int64_t *)target = milli;
    return 0;
}

static int read_bytes(const struct mapping_reading *reading, const struct yaml_value *at,
                      void *target)
{
    const struct setting *setting = reading->setting;
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
        return yaml_wrong(reading->file, at, right, reading->err);
    *(size_t *)target = (size_t)bytes;
    return 0;
}

/* settings.c reads these after all others. */
static int read_later(const struct mapping_reading *reading, const struct yaml_value *at,
                      void *target)
{
    (void)reading;
    (void)at;
    (void)target;
    return 0;
}

static int read_chosen(const struct mapping_reading *reading, const struct yaml_value *at,
                       void *target)
{
    struct namespace_choice *choice = target;
    struct mapping_reading of_choice = *reading;
    of_choice.arena = choice->arena;
    choice->is_set = true;
    choice->selector = (struct selector_term){0};
    return selector_read(&of_choice, at, &choice->selector);
}

static mapping_reader *const READERS[N_SETTING_KINDS] = {
    [SETTING_WORD] = read_word,     [SETTING_TEXT] = read_text,
    [SETTING_NAMES] = read_names,   [SETTING_ALIASES] = read_aliases,
    [SETTING_SWITCH] = read_switch, [SETTING_CHOICE] = read_choice,
    [SETTING_COUNT] = read_count,   [SETTING_DECIMAL] = read_decimal,
    [SETTING_BYTES] = read_bytes,   [SETTING_CLIENTS] = setting_read_clients,
    [SETTING_QUOTAS] = read_later,  [SETTING_DRIVERS] = setting_read_drivers,
    [SETTING_CHOSEN] = read_chosen, [SETTING_UNITS] = setting_read_units,
};

int setting_read(const struct setting *setting, const struct yaml_file *file,
                 const struct yaml_value *at, struct settings *settings, struct err *err)
{
    const struct mapping_reading reading = {
        .file = file, .err = err, .setting = setting, .settings = settings};
    return READERS[setting->kind](&reading, at, setting_target(setting, settings));
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
