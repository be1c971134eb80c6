/* Operations of a GridFS bucket. libmongoc finds files by id alone, so there is no ...ByName. */
#include "tests/spec/operations.h"

#include <string.h>

/* Copies the argument "id"; the caller destroys it. */
static bool argument_id(struct operation *operation, bson_value_t *id)
{
    bson_iter_t iter;

    if (!doc_find(&operation->arguments, "id", &iter)) {
        return fail(operation->test, "%s needs an id", operation->name);
    }
    bson_value_copy(bson_iter_value(&iter), id);
    return true;
}

static bool run_download(struct operation *operation)
{
    mongoc_stream_t *stream;
    bson_value_t id;
    uint8_t *bytes = NULL;
    size_t size = 0;
    ssize_t got = 0;

    if (!argument_id(operation, &id)) {
        return false;
    }
    stream = mongoc_gridfs_bucket_open_download_stream(
        operation->object->bucket, &id, &operation->error);
    bson_value_destroy(&id);
    while (stream) {
        bytes = bson_realloc(bytes, size + 4096);
        got = mongoc_stream_read(stream, bytes + size, 4096, 1, 0);
        if (got <= 0) {
            break;
        }
        size += (size_t)got;
    }
    if (stream && got == 0) {
        BSON_APPEND_BINARY(&operation->result, "v", BSON_SUBTYPE_BINARY, bytes, (uint32_t)size);
    }
    if (stream && got < 0) {
        mongoc_gridfs_bucket_stream_error(stream, &operation->error);
    }
    outcome(operation, stream && got == 0);
    if (stream) {
        mongoc_stream_destroy(stream);
    }
    bson_free(bytes);
    return true;
}

static bool run_upload(struct operation *operation)
{
    const char *filename = argument_text(operation, "filename");
    mongoc_stream_t *stream;
    bson_value_t id;
    bson_iter_t iter;
    bson_t source;
    uint8_t *bytes;
    size_t size;
    bool ok;

    if (!filename || !argument_view(operation, "source", &source)) {
        return false;
    }
    bytes = hex_bytes(doc_text(&source, "$$hexBytes", "?"), &size);
    if (!bytes) {
        return fail(operation->test, "upload: malformed source");
    }
    if (doc_find(&operation->arguments, "id", &iter)) {
        bson_value_copy(bson_iter_value(&iter), &id);
        stream = mongoc_gridfs_bucket_open_upload_stream_with_id(
            operation->object->bucket, &id, filename, &operation->opts, &operation->error);
    } else {
        id = (bson_value_t){.value_type = BSON_TYPE_NULL};
        stream = mongoc_gridfs_bucket_open_upload_stream(
            operation->object->bucket, filename, &operation->opts, &id, &operation->error);
    }
    ok = stream && mongoc_stream_write(stream, bytes, size, 0) == (ssize_t)size &&
         mongoc_stream_close(stream) == 0;
    if (stream && !ok) {
        mongoc_gridfs_bucket_stream_error(stream, &operation->error);
    }
    if (ok) {
        BSON_APPEND_VALUE(&operation->result, "v", &id);
    }
    if (stream) {
        mongoc_stream_destroy(stream);
    }
    bson_value_destroy(&id);
    bson_free(bytes);
    return outcome(operation, ok);
}

static bool run_find(struct operation *operation)
{
    bson_t filter;

    return argument_view(operation, "filter", &filter) &&
           result_rows(operation,
               mongoc_gridfs_bucket_find(operation->object->bucket, &filter, &operation->opts),
               NULL);
}

static bool run_delete(struct operation *operation)
{
    bson_value_t id;

    if (!argument_id(operation, &id)) {
        return false;
    }
    outcome(operation,
        mongoc_gridfs_bucket_delete_by_id(operation->object->bucket, &id, &operation->error));
    bson_value_destroy(&id);
    return true;
}

const struct operation_row bucket_operations[] = {
    {BUCKET, "delete", run_delete, "id", NULL},
    {BUCKET, "deleteByName", NULL, "", "none"},
    {BUCKET, "download", run_download, "id", NULL},
    {BUCKET, "downloadByName", NULL, "", "none"},
    {BUCKET, "drop", NULL, "", "none"},
    {BUCKET, "find", run_find, "filter", NULL},
    {BUCKET, "rename", NULL, "", "none"},
    {BUCKET, "renameByName", NULL, "", "none"},
    {BUCKET, "upload", run_upload, "filename source", NULL},
    {BUCKET, "uploadWithId", run_upload, "filename source id", NULL},
    {TEST_RUNNER, NULL, NULL, NULL, NULL},
};
