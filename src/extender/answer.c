/* answer: see answer.h. */
#include "answer.h"
#include "base/log.h"

void answer_text(struct exchange *exchange, struct buf *text)
{
    size_t len = text->len;
    exchange_answer(exchange, 200, "application/json", buf_take(text), len, 0);
}

void answer_scheduler_error(struct exchange *exchange, const char *text)
{
    struct buf answer;
    LOG(LOG_WARN, "extender", LOG_MSG("answered with an error"),
        LOG_NUM("id", exchange_id(exchange)), LOG_STR("path", exchange_path(exchange)),
        LOG_STR("err", text));
    buf_init(&answer, ANSWER_MAX_BYTES);
    (void)buf_add_text(&answer, "{\"Error\":");
    (void)buf_add_quoted(&answer, text);
    (void)buf_add_text(&answer, "}");
    answer_text(exchange, &answer);
}
