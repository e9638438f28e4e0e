/* source_url: answers of a gpu-extender by its URL. */
#include "source.h"

#include <curl/curl.h>

#define CONNECT_S 10L
#define WHOLE_S 120L

static size_t add_piece(char *bytes, size_t size, size_t n, void *context)
{
    struct buf *text = context;
    buf_add(text, bytes, size * n);
    return text->overflowed ? 0 : size * n;
}

static void set_trust(CURL *curl, const struct arguments *arguments)
{
    if (arguments->authority)
        (void)curl_easy_setopt(curl, CURLOPT_CAINFO, arguments->authority);
    if (arguments->certificate)
        (void)curl_easy_setopt(curl, CURLOPT_SSLCERT, arguments->certificate);
    if (arguments->key)
        (void)curl_easy_setopt(curl, CURLOPT_SSLKEY, arguments->key);
    if (arguments->insecure) {
        (void)curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
        (void)curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
    }
}

static void set_request(CURL *curl, const struct question *question, const char *url)
{
    (void)curl_easy_setopt(curl, CURLOPT_URL, url);
    (void)curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
    (void)curl_easy_setopt(curl, CURLOPT_TIMEOUT, WHOLE_S);
    (void)curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    if (!question->body)
        return;
    (void)curl_easy_setopt(curl, CURLOPT_POST, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_POSTFIELDS, question->body);
    (void)curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)question->len);
}

static struct curl_slist *headers_of(const struct arguments *arguments, struct arena *arena)
{
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/yaml");
    if (!arguments->token)
        return headers;
    return curl_slist_append(headers,
                             arena_printf(arena, "Authorization: Bearer %s", arguments->token));
}

int source_ask_url(const struct arguments *arguments, const struct question *question,
                   struct arena *arena, struct reply *ret_reply, struct err *err)
{
    size_t len = strlen(arguments->url);
    while (len > 0 && arguments->url[len - 1] == '/')
        len--;
    const char *url =
        arena_printf(arena, "%.*s/v1/%s", (int)len, arguments->url, source_target(question, arena));
    struct curl_slist *headers = headers_of(arguments, arena);
    CURL *curl = curl_easy_init();
    long status = 0;
    const char *type = NULL;
    if (!curl) {
        curl_slist_free_all(headers);
        return err_set(err, EIO, "libcurl cannot be initialized");
    }
    set_request(curl, question, url);
    set_trust(curl, arguments);
    (void)curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    (void)curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, add_piece);
    (void)curl_easy_setopt(curl, CURLOPT_WRITEDATA, &ret_reply->text);
    const CURLcode code = curl_easy_perform(curl);
    (void)curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    (void)curl_easy_getinfo(curl, CURLINFO_CONTENT_TYPE, &type);
    ret_reply->type = arena_strdup(arena, type ? type : "");
    curl_easy_cleanup(curl);
    curl_slist_free_all(headers);
    ret_reply->status = (unsigned)status;
    if (code == CURLE_OK)
        return 0;
    return err_set(err, EIO, "%.200s: %s", arguments->url, curl_easy_strerror(code));
}
