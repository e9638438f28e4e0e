/* settings_print: prints the policy in force as a file that reads back to the same settings.
 * Strings are quoted unless every YAML reader takes them as strings. */
#include "config/settings.h"

#include "setting.h"
#include "types/quantity.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* YAML 1.1 reads these as other types. */
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

/* A full buffer stays as it is; the caller chose its size. */
static void add_text(struct buf *out, const char *text)
{
    if (is_plain(text))
        buf_add_text(out, text);
    else
        buf_add_quoted(out, text);
}

static void add_indent(struct buf *out, const struct setting *setting)
{
    if (setting_section_len(setting) > 0)
        buf_add_text(out, "  ");
}

static void print_word(const struct setting *setting, struct settings *settings, struct buf *out)
{
    (void)settings;
    buf_printf(out, " %s\n", setting->text);
}

static void print_text(const struct setting *setting, struct settings *settings, struct buf *out)
{
    char *const *text = setting_target(setting, settings);
    buf_add_text(out, " ");
    add_text(out, *text);
    buf_add_text(out, "\n");
}

static void print_names(const struct setting *setting, struct settings *settings, struct buf *out)
{
    char **const *names = setting_target(setting, settings);
    size_t n = *setting_count(setting, settings);
    buf_add_text(out, n > 0 ? "\n" : " []\n");
    for (size_t i = 0; i < n; i++) {
        add_indent(out, setting);
        buf_add_text(out, "  - ");
        add_text(out, (*names)[i]);
        buf_add_text(out, "\n");
    }
}

static void print_aliases(const struct setting *setting, struct settings *settings, struct buf *out)
{
    struct gpu_model_alias *const *aliases = setting_target(setting, settings);
    size_t n = *setting_count(setting, settings);
    buf_add_text(out, n > 0 ? "\n" : " {}\n");
    for (size_t i = 0; i < n; i++) {
        add_indent(out, setting);
        buf_add_text(out, "  ");
        add_text(out, (*aliases)[i].from);
        buf_add_text(out, ": ");
        add_text(out, (*aliases)[i].to);
        buf_add_text(out, "\n");
    }
}

static void print_switch(const struct setting *setting, struct settings *settings, struct buf *out)
{
    const bool *is_on = setting_target(setting, settings);
    buf_add_text(out, *is_on ? " true\n" : " false\n");
}

static void print_choice(const struct setting *setting, struct settings *settings, struct buf *out)
{
    const unsigned *value = setting_target(setting, settings);
    buf_add_text(out, " ");
    add_text(out, setting->choice(*value));
    buf_add_text(out, "\n");
}

static void print_count(const struct setting *setting, struct settings *settings, struct buf *out)
{
    const size_t *count = setting_target(setting, settings);
    buf_printf(out, " %zu\n", *count);
}

static void print_decimal(const struct setting *setting, struct settings *settings, struct buf *out)
{
    const int64_t *milli = setting_target(setting, settings);
    char decimals[8];
    (void)snprintf(decimals, sizeof decimals, ".%03d", (int)(*milli % 1000));
    for (size_t i = 3; i > 0 && decimals[i] == '0'; i--)
        decimals[i] = '\0';
    buf_printf(out, " %" PRId64 "%s\n", *milli / 1000, decimals[1] ? decimals : "");
}

static void print_bytes(const struct setting *setting, struct settings *settings, struct buf *out)
{
    const size_t *bytes = setting_target(setting, settings);
    char text[32];
    buf_printf(out, " %s\n", quantity_bytes_text((int64_t)*bytes, text));
}

static void print_list(const char *const *texts, size_t n, struct buf *out)
{
    buf_add_text(out, "[");
    for (size_t i = 0; i < n; i++) {
        buf_add_text(out, i > 0 ? ", " : "");
        buf_add_quoted(out, texts[i]);
    }
    buf_add_text(out, "]");
}

static void print_clients(const struct setting *setting, struct settings *settings, struct buf *out)
{
    const struct settings_clients *clients = setting_target(setting, settings);
    buf_add_text(out, " {names: ");
    print_list((const char *const *)clients->names, clients->n_names, out);
    buf_add_text(out, ", organizations: ");
    print_list((const char *const *)clients->organizations, clients->n_organizations, out);
    buf_add_text(out, "}\n");
}

static void print_drivers(const struct setting *setting, struct settings *settings, struct buf *out)
{
    const struct policy *policy = setting_target(setting, settings);
    buf_add_text(out, policy->n_device_drivers > 0 ? "\n" : " {}\n");
    for (size_t i = 0; i < policy->n_device_drivers; i++) {
        const struct device_driver *driver = &policy->device_drivers[i];
        buf_add_text(out, "  ");
        add_text(out, driver->name);
        buf_add_text(out, ": {model: ");
        add_text(out, driver->model_attribute);
        if (driver->resource[0])
            buf_printf(out, ", resource: %s", driver->resource);
        buf_add_text(out, "}\n");
    }
}

static void print_member(const char *key, const char *value, struct buf *out)
{
    if (!value[0])
        return;
    buf_printf(out, ", %s: ", key);
    add_text(out, value);
}

static void print_units(const struct setting *setting, struct settings *settings, struct buf *out)
{
    const struct policy *policy = setting_target(setting, settings);
    buf_add_text(out, policy->n_units > 0 ? "\n" : " []\n");
    for (size_t i = 0; i < policy->n_units; i++) {
        const struct gpu_label *row = &policy->units[i];
        buf_add_text(out, "    - {resource: ");
        add_text(out, row->resource);
        print_member("label", row->label, out);
        print_member("says", gpu_label_says_name(row->says), out);
        print_member("whole", row->whole, out);
        print_member("replicas", row->replicas, out);
        print_member("unit", row->unit, out);
        buf_add_text(out, "}\n");
    }
}

/* The text after "key:". Prints matchLabels as equivalent matchExpressions. */
static void print_selector(const struct selector_term *selector, const char *indent,
                           struct buf *out)
{
    static const char *const OPERATORS[] = {[SELECTOR_IN] = "In",
                                            [SELECTOR_NOT_IN] = "NotIn",
                                            [SELECTOR_EXISTS] = "Exists",
                                            [SELECTOR_DOES_NOT_EXIST] = "DoesNotExist"};
    if (selector->n_requirements > 0)
        buf_printf(out, "\n%smatchExpressions:\n", indent);
    else
        buf_add_text(out, " {}\n");
    for (size_t i = 0; i < selector->n_requirements; i++) {
        const struct requirement *requirement = &selector->requirements[i];
        buf_printf(out, "%s- {key: ", indent);
        buf_add_quoted(out, requirement->key);
        buf_printf(out, ", operator: %s", OPERATORS[requirement->op]);
        if (requirement->n_values > 0) {
            buf_add_text(out, ", values: ");
            print_list(requirement->values, requirement->n_values, out);
        }
        buf_add_text(out, "}\n");
    }
}

static void print_amount(const struct quota_limit *limit, struct buf *out)
{
    if (limit->borrow.is_set)
        buf_printf(out,
                   "{limit: %" PRId64 ", borrow: {limit: %" PRId64 ", maxPriority: %" PRId64 "}}",
                   limit->gpus, limit->borrow.gpus, limit->borrow.max_priority);
    else
        buf_printf(out, "%" PRId64, limit->gpus);
}

/* Groups limits by resource, with the total before the models. */
static size_t print_limits(const struct quota *quota, size_t first, struct buf *out)
{
    const char *separator = "";
    const struct quota_limit *limits = quota->limits;
    size_t i = first;
    buf_add_text(out, "    - {");
    if (limits[first].resource) {
        buf_printf(out, "resource: \"%s\"", limits[first].resource);
        separator = ", ";
    }
    for (; i < quota->n_limits && limits[i].scope == limits[first].scope; i++) {
        if (!limits[i].model) {
            buf_printf(out, "%stotal: ", separator);
            print_amount(&limits[i], out);
        }
        separator = limits[i].model ? separator : ", ";
    }
    const size_t end = i;
    const char *before = "models: {";
    for (i = first; i < end; i++) {
        if (!limits[i].model)
            continue;
        buf_printf(out, "%s%s", separator, before);
        buf_add_quoted(out, limits[i].model);
        buf_add_text(out, ": ");
        print_amount(&limits[i], out);
        separator = ", ";
        before = "";
    }
    buf_add_text(out, *before ? "}\n" : "}}\n");
    return end;
}

static void print_quotas(const struct setting *setting, struct settings *settings, struct buf *out)
{
    const struct policy *policy = setting_target(setting, settings);
    buf_add_text(out, policy->n_quotas > 0 ? "\n" : " []\n");
    for (size_t i = 0; i < policy->n_quotas; i++) {
        const struct quota *quota = &policy->quotas[i];
        buf_add_text(out, "  - name: ");
        buf_add_quoted(out, quota->name);
        buf_add_text(out, "\n");
        if (quota->n_namespaces > 0) {
            buf_add_text(out, "    namespaces: ");
            print_list(quota->namespaces, quota->n_namespaces, out);
            buf_add_text(out, "\n");
        }
        if (quota->has_selector) {
            buf_add_text(out, "    namespaceSelector:");
            print_selector(&quota->selector, "      ", out);
        }
        buf_add_text(out, "    limits:\n");
        for (size_t at = 0; at < quota->n_limits;)
            at = print_limits(quota, at, out);
    }
}

static void print_chosen(const struct setting *setting, struct settings *settings, struct buf *out)
{
    const struct namespace_choice *choice = setting_target(setting, settings);
    if (choice->is_set)
        print_selector(&choice->selector, "  ", out);
    else
        buf_add_text(out, "\n");
}

/* Writes the text after "key:". */
typedef void setting_printer(const struct setting *setting, struct settings *settings,
                             struct buf *out);

static setting_printer *const PRINTERS[N_SETTING_KINDS] = {
    [SETTING_WORD] = print_word,     [SETTING_TEXT] = print_text,
    [SETTING_NAMES] = print_names,   [SETTING_ALIASES] = print_aliases,
    [SETTING_SWITCH] = print_switch, [SETTING_CHOICE] = print_choice,
    [SETTING_COUNT] = print_count,   [SETTING_DECIMAL] = print_decimal,
    [SETTING_BYTES] = print_bytes,   [SETTING_CLIENTS] = print_clients,
    [SETTING_QUOTAS] = print_quotas, [SETTING_DRIVERS] = print_drivers,
    [SETTING_CHOSEN] = print_chosen, [SETTING_UNITS] = print_units,
};

static bool begins_section(const struct setting *row)
{
    size_t len = setting_section_len(row);
    if (len == 0)
        return false;
    return row == SETTINGS || strncmp(row->path, row[-1].path, len + 1) != 0;
}

/* The table's offsets lead to mutable members; printers only read. It is no copy, as other threads
 * count the holders of a policy in force. */
static struct settings *view_of(const struct settings *settings)
{
    return (struct settings *)(uintptr_t)settings;
}

void settings_print_mixed(const struct settings *changing, const struct settings *fixed,
                          struct buf *out)
{
    for (const struct setting *row = SETTINGS; row < SETTINGS + N_SETTINGS; row++) {
        if (begins_section(row))
            buf_printf(out, "%.*s:\n", (int)setting_section_len(row), row->path);
        add_indent(out, row);
        buf_printf(out, "%s:", setting_key(row));
        PRINTERS[row->kind](row, view_of(row->change == SETTING_RESTART ? fixed : changing), out);
    }
}

void settings_print(const struct settings *settings, struct buf *out)
{
    settings_print_mixed(settings, settings, out);
}
