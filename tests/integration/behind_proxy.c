#include "behind_proxy.h"

#include <criterion/criterion.h>
#include <stdio.h>

struct proxy *proxy;

void behind_proxy_start(const char *options)
{
    char text[256];
    bson_error_t error;
    fixture_connect_admin();
    proxy = proxy_start(mongoc_uri_get_hosts(fixture.uri)->port);
    /* As a member of a replica set, the server would tell its own address. */
    snprintf(text, sizeof text, "mongodb://127.0.0.1:%d/?directConnection=true%s",
        proxy_port(proxy), options);
    mongoc_uri_t *uri = mongoc_uri_new_with_error(text, &error);
    cr_assert_not_null(uri, "%s: %s", text, error.message);
    mongoc_uri_set_appname(uri, fixture.name);
    mongoc_uri_destroy(fixture.uri);
    fixture.uri = uri;
}

void behind_proxy_connect(const char *options)
{
    behind_proxy_start(options);
    fixture.client = fixture_new_client();
    fixture.collection = mongoc_client_get_collection(fixture.client, fixture.name, "things");
}

/* The clients end first: what they still have to say goes through the proxy. */
void behind_proxy_end(void)
{
    fixture_end();
    if (proxy) {
        proxy_stop(proxy);
    }
}
