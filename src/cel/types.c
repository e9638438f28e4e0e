/*
 * types: see functions.h. Every visit of a type counts as a step: types share parts, so their size
 * can be exponential in that of the expression.
 */
#include "functions.h"

#include <string.h>

static bool step(struct cel_types *types)
{
    if (++types->n_steps <= CEL_TYPE_STEPS_MAX)
        return true;
    return cel_not_judged(types->fault, "its types are too large");
}

const struct cel_type *cel_simple_type(enum cel_kind kind)
{
    static const struct cel_type TYPES[] = {
        {.kind = K_ERROR},  {.kind = K_DYN},      {.kind = K_ANY},    {.kind = K_NULL},
        {.kind = K_BOOL},   {.kind = K_INT},      {.kind = K_UINT},   {.kind = K_DOUBLE},
        {.kind = K_STRING}, {.kind = K_QUANTITY}, {.kind = K_SEMVER}, {.kind = K_DEVICE},
    };
    return &TYPES[kind];
}

const struct cel_type *cel_new_type(struct cel_types *types, enum cel_kind kind,
                                    const struct cel_type *a, const struct cel_type *b)
{
    struct cel_type *type = ARENA_NEW(types->fault->arena, struct cel_type);
    *type = (struct cel_type){.kind = kind, .of = {a, b}};
    return type;
}

const struct cel_type *cel_new_var(struct cel_types *types)
{
    if (types->n_vars == types->size) {
        unsigned size = types->size == 0 ? 64 : 2 * types->size;
        const struct cel_type **bound =
            ARENA_ARRAY(types->fault->arena, const struct cel_type *, size);
        if (types->n_vars > 0)
            memcpy(bound, types->bound, types->n_vars * sizeof(void *));
        types->bound = bound;
        types->size = size;
    }
    struct cel_type *type = ARENA_NEW(types->fault->arena, struct cel_type);
    *type = (struct cel_type){.kind = K_VAR, .var = types->n_vars++};
    return type;
}

static void bind(struct cel_types *types, unsigned var, const struct cel_type *type)
{
    if (types->n_trail == types->trail_size) {
        struct arena *arena = types->fault->arena;
        size_t size = types->trail_size == 0 ? 64 : 2 * types->trail_size;
        unsigned *trail = ARENA_ARRAY(arena, unsigned, size);
        const struct cel_type **old = ARENA_ARRAY(arena, const struct cel_type *, size);
        if (types->n_trail > 0) {
            memcpy(trail, types->trail, types->n_trail * sizeof *trail);
            memcpy(old, types->trail_old, types->n_trail * sizeof(void *));
        }
        types->trail = trail;
        types->trail_old = old;
        types->trail_size = size;
    }
    types->trail[types->n_trail] = var;
    types->trail_old[types->n_trail++] = types->bound[var];
    types->bound[var] = type;
}

static size_t n_parts(const struct cel_type *type)
{
    return type->kind == K_MAP ? 2 : type->kind == K_LIST || type->kind == K_OPTIONAL ? 1 : 0;
}

bool cel_is_dyn(const struct cel_type *type)
{
    return type->kind == K_DYN || type->kind == K_ANY;
}

const struct cel_type *cel_substitute(struct cel_types *types, const struct cel_type *type,
                                      bool to_dyn)
{
    if (!step(types))
        return type;
    if (type->kind == K_VAR && types->bound[type->var])
        return cel_substitute(types, types->bound[type->var], to_dyn);
    if (type->kind == K_VAR && to_dyn)
        return cel_simple_type(K_DYN);
    size_t n = n_parts(type);
    if (n == 0)
        return type;
    const struct cel_type *a = cel_substitute(types, type->of[0], to_dyn);
    const struct cel_type *b = n == 2 ? cel_substitute(types, type->of[1], to_dyn) : NULL;
    if (a == type->of[0] && b == type->of[1])
        return type;
    return cel_new_type(types, type->kind, a, b);
}

bool cel_is_same_type(struct cel_types *types, const struct cel_type *a, const struct cel_type *b)
{
    if (!step(types) || a->kind != b->kind || (a->kind == K_VAR && a->var != b->var))
        return false;
    for (size_t i = 0; i < n_parts(a); i++)
        if (!cel_is_same_type(types, a->of[i], b->of[i]))
            return false;
    return true;
}

/* isEqualOrLessSpecific of cel-go. */
static bool is_less_specific(struct cel_types *types, const struct cel_type *a,
                             const struct cel_type *b)
{
    if (!step(types) || cel_is_dyn(a) || a->kind == K_VAR)
        return true;
    if (cel_is_dyn(b) || b->kind == K_VAR || a->kind != b->kind)
        return false;
    for (size_t i = 0; i < n_parts(a); i++)
        if (!is_less_specific(types, a->of[i], b->of[i]))
            return false;
    return true;
}

const struct cel_type *cel_most_general(struct cel_types *types, const struct cel_type *a,
                                        const struct cel_type *b)
{
    return is_less_specific(types, a, b) ? a : b;
}

/* notReferencedIn of cel-go: its occurs check, which lets a type contain itself alone. */
static bool is_absent_in(struct cel_types *types, const struct cel_type *var,
                         const struct cel_type *within)
{
    if (!step(types))
        return false;
    if (within->kind == K_VAR) {
        if (within->var == var->var)
            return false;
        return !types->bound[within->var] || is_absent_in(types, var, types->bound[within->var]);
    }
    for (size_t i = 0; i < n_parts(within); i++)
        if (!is_absent_in(types, var, within->of[i]))
            return false;
    return true;
}

static bool is_assignable(struct cel_types *types, const struct cel_type *from,
                          const struct cel_type *to);

/* isValidTypeSubstitution of cel-go: whether the variable can stand for the type. */
static bool can_stand_for(struct cel_types *types, const struct cel_type *type,
                          const struct cel_type *var, bool *ret_is_bound)
{
    *ret_is_bound = true;
    if (cel_is_same_type(types, type, var))
        return true;
    const struct cel_type *bound = types->bound[var->var];
    if (bound) {
        if (cel_is_same_type(types, type, bound))
            return true;
        if (!is_assignable(types, type, bound))
            return false;
        const struct cel_type *general = cel_most_general(types, type, bound);
        if (is_absent_in(types, var, general))
            bind(types, var->var, general);
        return true;
    }
    *ret_is_bound = false;
    if (!is_absent_in(types, var, type))
        return false;
    bind(types, var->var, type);
    return true;
}

static bool is_nullable(const struct cel_type *type)
{
    return type->kind == K_NULL || type->kind == K_OPTIONAL || type->kind == K_QUANTITY ||
           type->kind == K_SEMVER || type->kind == K_DEVICE;
}

static bool is_wild(const struct cel_type *type)
{
    return type->kind == K_ERROR || cel_is_dyn(type);
}

/* internalIsAssignable of cel-go. */
static bool is_assignable(struct cel_types *types, const struct cel_type *from,
                          const struct cel_type *to)
{
    bool is_bound;
    if (!step(types))
        return false;
    if (to->kind == K_VAR) {
        if (can_stand_for(types, from, to, &is_bound))
            return true;
        if (is_bound)
            return false;
    }
    if (from->kind == K_VAR)
        return can_stand_for(types, to, from, &is_bound);
    if (is_wild(from) || is_wild(to))
        return true;
    if (from->kind == K_NULL || to->kind == K_NULL)
        return is_nullable(from->kind == K_NULL ? to : from);
    if (from->kind != to->kind)
        return false;
    for (size_t i = 0; i < n_parts(from); i++)
        if (!is_assignable(types, from->of[i], to->of[i]))
            return false;
    return true;
}

bool cel_assignable(struct cel_types *types, const struct cel_type *const *from,
                    const struct cel_type *const *to, size_t n)
{
    size_t before = types->n_trail;
    for (size_t i = 0; i < n; i++) {
        if (is_assignable(types, from[i], to[i]))
            continue;
        while (types->n_trail > before) {
            types->n_trail--;
            types->bound[types->trail[types->n_trail]] = types->trail_old[types->n_trail];
        }
        return false;
    }
    return true;
}

void cel_format_type(struct buf *buf, const struct cel_type *type)
{
    static const char *const NAMES[] = {"!error!",
                                        "dyn",
                                        "any",
                                        "null",
                                        "bool",
                                        "int",
                                        "uint",
                                        "double",
                                        "string",
                                        "kubernetes.Quantity",
                                        "kubernetes.Semver",
                                        "kubernetes.DRADevice",
                                        "list",
                                        "map",
                                        "optional_type",
                                        "dyn"};
    buf_add_text(buf, NAMES[type->kind]);
    for (size_t i = 0; i < n_parts(type) && !buf->overflowed; i++) {
        buf_add_text(buf, i == 0 ? "(" : ", ");
        cel_format_type(buf, type->of[i]);
    }
    if (n_parts(type) > 0)
        buf_add_text(buf, ")");
}
