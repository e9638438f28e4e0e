/* answer: see answer.h. */
#include "answer.h"
#include "base/log.h"
#include "formats/json_put.h"

void answer_json(struct exchange *exchange, json_t *value)
{
    size_t len = 0;
    char *text = json_take_text(value, JSON_COMPACT, &len);
    exchange_answer(exchange, 200, "application/json", text, len, 0);
}

void answer_scheduler_error(struct exchange *exchange, const char *text)
{
    LOG(LOG_WARN, "extender", LOG_MSG("answered with an error"),
        LOG_NUM("id", exchange_id(exchange)), LOG_STR("path", exchange_path(exchange)),
        LOG_STR("err", text));
    answer_json(exchange, json_pack("{s:s}", "Error", text));
}
