/* bind: see include/extender/extender.h. */
#include "answer.h"
#include "extender/extender.h"
#include "formats/json_get.h"

/* ExtenderBindingArgs (contract 1.6). */
static const char *const ARGUMENTS[] = {"PodName", "PodNamespace", "PodUID", "Node"};

static int check_arguments(const json_t *root, struct err *err)
{
    if (!json_is_object(root))
        return err_set(err, EINVAL, "is %s, should be an ExtenderBindingArgs object",
                       json_type_text(root));
    for (size_t i = 0; i < sizeof ARGUMENTS / sizeof *ARGUMENTS; i++) {
        const char *text = "";
        int r = json_get_string(root, ARGUMENTS[i], &text, err);
        if (r < 0)
            return r;
        if (!text[0])
            return err_set(err, EINVAL, "%s: is missing", ARGUMENTS[i]);
    }
    return 0;
}

void extender_bind(void *context, struct exchange *exchange)
{
    (void)context;
    struct err err;
    size_t len = 0;
    json_t *root = NULL;
    const char *body = exchange_body(exchange, &len);
    int r = json_parse(body, len, 0, &root, &err);
    if (r == 0)
        r = check_arguments(root, &err);
    json_decref(root);
    if (r < 0)
        err_prefix(&err, "gpu-extender: request: ");
    else
        (void)err_set(&err, ENOTSUP,
                      "gpu-extender: cannot bind: the inventory was read from a file, and there is "
                      "no API server to bind through");
    answer_scheduler_error(exchange, err.text);
}
