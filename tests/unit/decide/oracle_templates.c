/* oracle_templates: see oracle_templates.h. */
#include "oracle_templates.h"
#include "oracle.h"

#include <string.h>

static void set_template(struct oracle *oracle, size_t i, const struct oracle_template *template)
{
    oracle->n_changes += memcmp(&oracle->templates[i], template, sizeof *template) != 0;
    oracle->templates[i] = *template;
}

void oracle_put_template(struct oracle *oracle, size_t i, const struct oracle_template *template)
{
    oracle->template_seen[i] = true;
    set_template(oracle, i, template);
}

void oracle_remove_template(struct oracle *oracle, size_t i)
{
    static const struct oracle_template NONE = {.there = 0};
    set_template(oracle, i, &NONE);
}

void oracle_keep_template(struct oracle *oracle, size_t i)
{
    oracle->template_seen[i] = true;
}

void oracle_begin_templates(struct oracle *oracle)
{
    memset(oracle->template_seen, 0, sizeof oracle->template_seen);
}

void oracle_end_templates(struct oracle *oracle)
{
    for (size_t i = 0; i < ORACLE_TEMPLATES; i++) {
        if (!oracle->template_seen[i])
            oracle_remove_template(oracle, i);
    }
}

/* The class's driver decides; else that of the request; else the resource of the class. */
static bool is_of_gpus(const struct oracle *oracle, const struct oracle_want *want)
{
    const struct oracle_class *class = &oracle->classes[want->class];
    if (class->there && class->driver > 0)
        return class->driver != ORACLE_NO_GPUS;
    if (want->driver > 0)
        return want->driver != ORACLE_NO_GPUS;
    return class->there && class->resource > 0;
}

int64_t oracle_gpus_of_template(const struct oracle *oracle, size_t i)
{
    const struct oracle_template *template = &oracle->templates[i];
    int64_t n = 0;
    for (int64_t w = 0; w < template->n_wants; w++)
        n += is_of_gpus(oracle, &template->wants[w]) ? template->wants[w].n_devices : 0;
    return n;
}
