/*
 * Short ways to read the documents that a test file is made of. A "view" points into the document
 * it was taken from: it needs no destruction and must not outlive that document.
 */
#ifndef SPEC_DOCUMENT_H
#define SPEC_DOCUMENT_H

#include <mongoc/mongoc.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether doc has key; iter then stands on it. */
bool doc_find(const bson_t *doc, const char *key, bson_iter_t *iter);
bool doc_has(const bson_t *doc, const char *key);

/* The value of key, or fallback where it is absent or of another type. Strings stay doc's own. */
const char *doc_text(const bson_t *doc, const char *key, const char *fallback);
bool doc_bool(const bson_t *doc, const char *key, bool fallback);
int64_t doc_int(const bson_t *doc, const char *key, int64_t fallback);

/* A view of the document or array at key or at iter; an empty one, and false, where there is none.
 */
bool doc_view(const bson_t *doc, const char *key, bson_t *view);
bool iter_view(const bson_iter_t *iter, bson_t *view);

/* The first element of doc: what a document with one key is about. */
bool doc_first(const bson_t *doc, bson_iter_t *iter);

/* Begins a loop over the elements of the array or document at key; an absent one has none. */
void doc_each(const bson_t *doc, const char *key, bson_iter_t *iter);

/* Whether the array at key holds text as one of its strings. */
bool doc_lists(const bson_t *doc, const char *key, const char *text);

/* Whether word is one of the words of a list that blanks separate. */
bool in_words(const char *words, const char *word);

/* The first key of doc that is not one of the words, or NULL. It stays doc's own. */
const char *doc_stranger(const bson_t *doc, const char *words);

/* Appends the value at iter to doc as key. */
void doc_append(bson_t *doc, const char *key, const bson_iter_t *iter);

/* Appends copies of all elements of other to doc, but those whose key is one of the words. */
void doc_append_others(bson_t *doc, const bson_t *other, const char *words);

/* The value at iter (NULL: "nothing") as relaxed extended JSON; the caller frees it by bson_free.
 */
char *iter_json(const bson_iter_t *iter);

/* Zeroed memory, aligned as a bson_t wants it, which malloc does not promise; freed by free. */
void *new_aligned(size_t size);

/* Bytes from an even number of hexadecimal digits; NULL if malformed; freed by bson_free. */
uint8_t *hex_bytes(const char *digits, size_t *size);

#endif
