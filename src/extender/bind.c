/* bind: see include/extender/extender.h. What becomes of a binding: include/extender/binds.h. */
#include "answer.h"
#include "base/clock.h"
#include "extender/extender.h"
#include "formats/json_get.h"

/* ExtenderBindingArgs (contract 1.6). The texts are root's. */
static int read_arguments(const json_t *root, struct bind_args *ret_args, struct err *err)
{
    struct bind_args args = {0};
    const struct {
        const char *member;
        const char **text;
    } MEMBERS[] = {{"PodName", &args.name},
                   {"PodNamespace", &args.namespace_},
                   {"PodUID", &args.uid},
                   {"Node", &args.node_name}};
    if (!json_is_object(root))
        return err_set(err, EINVAL, "is %s, should be an ExtenderBindingArgs object",
                       json_type_text(root));
    for (size_t i = 0; i < sizeof MEMBERS / sizeof *MEMBERS; i++) {
        const char *text = "";
        int r = json_get_string(root, MEMBERS[i].member, &text, err);
        if (r < 0)
            return r;
        if (!text[0])
            return err_set(err, EINVAL, "%s: is missing", MEMBERS[i].member);
        *MEMBERS[i].text = text;
    }
    *ret_args = args;
    return 0;
}

/* ExtenderBindingResult. */
static void answer_bind(void *context, const char *error)
{
    struct exchange *exchange = context;
    struct buf text;
    if (error) {
        answer_scheduler_error(exchange, error);
        return;
    }
    buf_init(&text, ANSWER_MAX_BYTES);
    (void)buf_add_text(&text, "{\"Error\":\"\"}");
    answer_text(exchange, &text);
}

static int begin(const struct extender *extender, const struct bind_args *args,
                 struct exchange *exchange, struct err *err)
{
    if (!extender->binds)
        return err_set(err, ENOTSUP,
                       "cannot bind: the inventory was read from a file, and there is no API "
                       "server to bind through");
    if (!inventory_usable(extender->inventory, err))
        return -EAGAIN;
    binds_call(extender->binds, args, clock_ms(), answer_bind, exchange);
    return 0;
}

void extender_bind(void *context, struct exchange *exchange)
{
    const struct extender *extender = context;
    struct err err;
    struct bind_args args;
    size_t len = 0;
    json_t *root = NULL;
    const char *body = exchange_body(exchange, &len);
    int r = json_parse(body, len, 0, &root, &err);
    if (r == 0)
        r = read_arguments(root, &args, &err);
    if (r < 0)
        err_prefix(&err, "request: ");
    else
        r = begin(extender, &args, exchange, &err);
    json_decref(root);
    if (r < 0) {
        err_prefix(&err, "gpu-extender: ");
        answer_scheduler_error(exchange, err.text);
    }
}
