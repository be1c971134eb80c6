#include "tests/spec/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool doc_find(const bson_t *doc, const char *key, bson_iter_t *iter)
{
    return bson_iter_init_find(iter, doc, key);
}

bool doc_has(const bson_t *doc, const char *key)
{
    return bson_has_field(doc, key);
}

const char *doc_text(const bson_t *doc, const char *key, const char *fallback)
{
    bson_iter_t iter;
    return doc_find(doc, key, &iter) && BSON_ITER_HOLDS_UTF8(&iter) ? bson_iter_utf8(&iter, NULL)
                                                                    : fallback;
}

bool doc_bool(const bson_t *doc, const char *key, bool fallback)
{
    bson_iter_t iter;
    return doc_find(doc, key, &iter) ? bson_iter_as_bool(&iter) : fallback;
}

int64_t doc_int(const bson_t *doc, const char *key, int64_t fallback)
{
    bson_iter_t iter;
    return doc_find(doc, key, &iter) && BSON_ITER_HOLDS_NUMBER(&iter) ? bson_iter_as_int64(&iter)
                                                                      : fallback;
}

bool iter_view(const bson_iter_t *iter, bson_t *view)
{
    const uint8_t *data = NULL;
    uint32_t size = 0;

    if (BSON_ITER_HOLDS_DOCUMENT(iter)) {
        bson_iter_document(iter, &size, &data);
    } else if (BSON_ITER_HOLDS_ARRAY(iter)) {
        bson_iter_array(iter, &size, &data);
    }
    if (data && bson_init_static(view, data, size)) {
        return true;
    }
    bson_init(view);
    return false;
}

bool doc_view(const bson_t *doc, const char *key, bson_t *view)
{
    bson_iter_t iter;
    if (doc_find(doc, key, &iter)) {
        return iter_view(&iter, view);
    }
    bson_init(view);
    return false;
}

bool doc_first(const bson_t *doc, bson_iter_t *iter)
{
    return bson_iter_init(iter, doc) && bson_iter_next(iter);
}

void doc_each(const bson_t *doc, const char *key, bson_iter_t *iter)
{
    static const bson_t empty = BSON_INITIALIZER;
    bson_iter_t found;

    if (!doc_find(doc, key, &found) || !bson_iter_recurse(&found, iter)) {
        bson_iter_init(iter, &empty);
    }
}

bool doc_lists(const bson_t *doc, const char *key, const char *text)
{
    bson_iter_t iter;

    for (doc_each(doc, key, &iter); bson_iter_next(&iter);) {
        if (BSON_ITER_HOLDS_UTF8(&iter) && strcmp(bson_iter_utf8(&iter, NULL), text) == 0) {
            return true;
        }
    }
    return false;
}

bool in_words(const char *words, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = words; length && (at = strstr(at, word)); at += length) {
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length])) {
            return true;
        }
    }
    return false;
}

const char *doc_stranger(const bson_t *doc, const char *words)
{
    bson_iter_t iter;

    for (bson_iter_init(&iter, doc); bson_iter_next(&iter);) {
        if (!in_words(words, bson_iter_key(&iter))) {
            return bson_iter_key(&iter);
        }
    }
    return NULL;
}

void doc_append(bson_t *doc, const char *key, const bson_iter_t *iter)
{
    bson_append_iter(doc, key, -1, iter);
}

void doc_append_others(bson_t *doc, const bson_t *other, const char *words)
{
    bson_iter_t iter;

    for (bson_iter_init(&iter, other); bson_iter_next(&iter);) {
        if (!in_words(words, bson_iter_key(&iter))) {
            doc_append(doc, bson_iter_key(&iter), &iter);
        }
    }
}

char *iter_json(const bson_iter_t *iter)
{
    bson_t holder = BSON_INITIALIZER;
    char *whole, *value;
    size_t length;

    if (!iter) {
        return bson_strdup("nothing");
    }
    /* libbson prints documents alone, so the value is cut out of { "v" : VALUE }. */
    doc_append(&holder, "v", iter);
    whole = bson_as_relaxed_extended_json(&holder, &length);
    bson_destroy(&holder);
    value = bson_strndup(whole + strlen("{ \"v\" : "), length - strlen("{ \"v\" :  }"));
    bson_free(whole);
    return value;
}

void *new_aligned(size_t size)
{
    const size_t whole = (size + _Alignof(bson_t) - 1) / _Alignof(bson_t) * _Alignof(bson_t);
    void *memory = aligned_alloc(_Alignof(bson_t), whole);

    if (!memory) {
        abort();
    }
    return memset(memory, 0, whole);
}

uint8_t *hex_bytes(const char *digits, size_t *size)
{
    size_t length = strlen(digits);
    uint8_t *bytes;

    if (length % 2 || strspn(digits, "0123456789abcdefABCDEF") != length) {
        return NULL;
    }
    *size = length / 2;
    bytes = bson_malloc(*size + 1);
    for (size_t i = 0; i < *size; i++) {
        unsigned byte;
        sscanf(digits + 2 * i, "%2x", &byte);
        bytes[i] = (uint8_t)byte;
    }
    return bytes;
}
