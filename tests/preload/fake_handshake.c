/*
 * What a server is told when a connection begins, whichever way the driver
 * comes by the message.
 */
#include "fake_host.h"

#include <criterion/criterion.h>

TestSuite(fake_handshake, .init = fake_begin, .fini = fake_end, .timeout = 150);

/* Every function, for messages in which the driver says nothing by itself,
 * true, or "2". */
#define EVERY_FUNCTION                                                                             \
    ACTIONS("linked:A", "hello:A:dup", "hello:A:dup:true", "hello:A:dup:2", "hello:A:ismaster",    \
        "hello:A:ismaster:true", "hello:A:ismaster:2", "hello:A:handshake",                        \
        "hello:A:handshake:true", "hello:A:handshake:2", "hello:A:async-new",                      \
        "hello:A:async-new:true", "hello:A:async-new:2")

#define FOUR_TIMES(lines) lines lines lines lines

#define SAYS_NOTHING "A hello client last\n"
#define SAYS_TRUE "A hello client backpressure=true last\n"
#define SAYS_2 "A hello client backpressure='2' last\n"
#define MADE_TRUE "A hello client last backpressure=true\n"
#define MADE_2 "A hello client last backpressure='2'\n"

Test(fake_handshake, original_says_true)
{
    fake_expect(fake_linked, EVERY_FUNCTION, FOUR_TIMES(MADE_TRUE SAYS_TRUE MADE_TRUE));
    cr_expect_not(fake_has_segment(), "no command was run");
}

Test(fake_handshake, current_says_2)
{
    fake_setenv("MONGOBP_PROFILE", "current");
    fake_expect(fake_linked, EVERY_FUNCTION, FOUR_TIMES(MADE_2 MADE_2 SAYS_2));
}

Test(fake_handshake, left_alone_when_disabled)
{
    fake_setenv("MONGOBP_DISABLE", "1");
    fake_expect(fake_linked, EVERY_FUNCTION, FOUR_TIMES(SAYS_NOTHING SAYS_TRUE SAYS_2));
}

Test(fake_handshake, left_alone_when_observing)
{
    fake_setenv("MONGOBP_OBSERVE", "1");
    fake_expect(fake_linked, EVERY_FUNCTION, FOUR_TIMES(SAYS_NOTHING SAYS_TRUE SAYS_2));
}

/* Without `client` the message that is kept is shared with connections that
 * are open already; a copy is nobody else's. */
Test(fake_handshake, message_without_client)
{
    fake_expect(fake_linked,
        ACTIONS("linked:A", "hello:A:ismaster:no-client", "hello:A:handshake:no-client",
            "hello:A:dup:no-client", "hello:A:async-new:no-client"),
        "A hello last\n"
        "A hello last\n"
        "A hello last backpressure=true\n"
        "A hello last backpressure=true\n");
}

/* What is sent on an open connection later is no beginning. */
Test(fake_handshake, open_connection)
{
    fake_expect(fake_linked, ACTIONS("linked:A", "hello:A:async-open", "hello:A:async-open:2"),
        SAYS_NOTHING SAYS_2);
}

/* The message is changed by the libbson of the driver it belongs to. */
Test(fake_handshake, driver_opened_local)
{
    fake_expect(fake_dlopen,
        ACTIONS("open:A:local:@fake", "hello:A:dup", "hello:A:ismaster:2", "hello:A:async-new"),
        MADE_TRUE MADE_TRUE MADE_TRUE);
}

/* Of a version that is not known, the parameters of this one are not either. */
Test(fake_handshake, version_not_known)
{
    fake_expect(fake_linked,
        ACTIONS("linked:A", "version:A:9.0.0", "hello:A:dup", "hello:A:async-new"),
        MADE_TRUE SAYS_NOTHING);
}
