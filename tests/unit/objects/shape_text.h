/*
 * shape_text: a pod's selectors, tolerations and model wants as one line, for comparing.
 *
 *   zone In (b) & disk Exists () | metadata.name! In (n1); +50 zone In (c)
 *
 * Terms are joined by " | ", requirements by " & "; "!" marks a field, "~" values compared as
 * models.
 */
#ifndef SHAPE_TEXT_H
#define SHAPE_TEXT_H

#include "base/buf.h"
#include "types/facts.h"

static inline void shape_text_requirement(struct buf *out, const struct requirement *requirement)
{
    static const char *const OPERATORS[] = {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"};
    buf_printf(out, "%s%s%s %s (", requirement->key, requirement->is_field ? "!" : "",
               requirement->models ? "~" : "", OPERATORS[requirement->op]);
    for (size_t i = 0; i < requirement->n_values; i++) {
        char text[128];
        bool is_model = requirement->models && requirement->models[i].chip[0];
        buf_printf(out, "%s%s", i ? "," : "",
                   is_model ? gpu_model_text(&requirement->models[i], text)
                            : requirement->values[i]);
    }
    buf_add_text(out, ")");
}

static inline void shape_text_term(struct buf *out, const struct selector_term *term)
{
    for (size_t i = 0; i < term->n_requirements; i++) {
        buf_add_text(out, i ? " & " : "");
        shape_text_requirement(out, &term->requirements[i]);
    }
}

/* "none": the selector is absent. */
static inline void shape_text_selector(struct buf *out, const struct node_selector *selector)
{
    if (!selector->present)
        buf_add_text(out, "none");
    for (size_t i = 0; i < selector->n_terms; i++) {
        buf_add_text(out, i ? " | " : "");
        shape_text_term(out, &selector->terms[i]);
    }
}

static inline void shape_text_preferred(struct buf *out, const struct shape_facts *shape)
{
    for (size_t i = 0; i < shape->n_preferred; i++) {
        buf_printf(out, "%s+%d ", i ? "; " : "", (int)shape->preferred[i].weight);
        shape_text_term(out, &shape->preferred[i].term);
    }
}

/* "key=value:NoSchedule" (Equal), "key:*" (Exists, any effect), "*:*". */
static inline void shape_text_tolerations(struct buf *out, const struct shape_facts *shape)
{
    static const char *const EFFECTS[] = {"NoSchedule", "PreferNoSchedule", "NoExecute"};
    for (size_t i = 0; i < shape->n_tolerations; i++) {
        const struct toleration *t = &shape->tolerations[i];
        bool equal = t->op == TOLERATION_EQUAL;
        buf_printf(out, "%s%s%s%s:%s", i ? " " : "", t->key ? t->key : "*", equal ? "=" : "",
                   equal ? t->value : "", t->any_effect ? "*" : EFFECTS[t->effect]);
    }
}

static inline void shape_text_models(struct buf *out, const char *name,
                                     const struct gpu_model *models, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char text[128];
        buf_printf(out, "%s%s", i ? "," : name, gpu_model_text(&models[i], text));
    }
}

static inline void shape_text_wants(struct buf *out, const struct model_wants *wants)
{
    shape_text_models(out, "accept ", wants->accept, wants->n_accept);
    shape_text_models(out, " exclude ", wants->exclude, wants->n_exclude);
    if (wants->min_memory_bytes > 0)
        buf_printf(out, " memory %lld", (long long)wants->min_memory_bytes);
}

/* Compares what WRITE, one of the functions above, writes of PART. */
#define ASSERT_SHAPE_TEXT(write, part, expected)                                                   \
    do {                                                                                           \
        struct buf out;                                                                            \
        buf_init(&out, 1000);                                                                      \
        write(&out, part);                                                                         \
        assert_string_equal(buf_text(&out), expected);                                             \
        buf_fini(&out);                                                                            \
    } while (0)

#endif
