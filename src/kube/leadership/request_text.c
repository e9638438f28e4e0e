/* request_text: see request_text.h. */
#include "request_text.h"

#include "formats/json_parse.h"
#include "formats/json_values.h"

#define MESSAGE_MAX_BYTES 200

json_t *request_text_object(const struct kube_answer *answer)
{
    json_t *object = NULL;
    if (answer->outcome == KUBE_ANSWERED && (answer->status == 200 || answer->status == 201))
        (void)json_parse(answer->body, answer->body_len, 0, &JSON_ANSWER, &object, NULL);
    return object;
}

void request_text_explain(struct buf *out, const char *method, const char *path,
                          const struct kube_answer *answer)
{
    const char *message = "";
    json_t *status = NULL;
    buf_clear(out);
    buf_printf(out, "%s %s: ", method, path);
    if (answer->outcome != KUBE_ANSWERED) {
        buf_printf(out, "%.*s", MESSAGE_MAX_BYTES, answer->why);
        return;
    }
    (void)json_parse(answer->body, answer->body_len, 0, &JSON_ANSWER, &status, NULL);
    (void)json_get_string(status, "message", &message, NULL);
    buf_printf(out, "%u%s%.*s", answer->status, *message ? ": " : "", MESSAGE_MAX_BYTES, message);
    json_decref(status);
}
