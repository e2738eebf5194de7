//! Our client, their servers.

use toolgate_wire::Version;

use crate::interview::{Cancel, Expected, connected, interview};
use crate::partners::{Over, Partner, Running, node, python};

async fn check(partner: Partner, over: Over, expected: Expected) {
    let mut running = Running::start(partner, over).await;
    let client = connected(running.endpoint.take().expect("an endpoint")).await;
    interview(&client, expected, &running.log).await;
    client.close().await;
}

const OLDEST: Expected = Expected { version: Version::V2024_11_05, cancel: Cancel::Unheard, instructions: false };

const SECOND: Expected = Expected { version: Version::V2025_03_26, cancel: Cancel::Fatal, instructions: true };

/// One test for each partner and transport.
macro_rules! servers {
    ($($name:ident: $partner:expr, $over:ident, $expected:expr;)*) => {$(
        #[tokio::test]
        async fn $name() {
            check($partner, Over::$over, $expected).await;
        }
    )*};
}

servers! {
    python_1_2_1_stdio: python("python/mcp-1.2.1/bin/python", "python/server_v1.py"), Stdio, OLDEST;
    python_1_2_1_sse: python("python/mcp-1.2.1/bin/python", "python/server_v1.py"), Sse, OLDEST;
    python_1_2_1_sse_found: python("python/mcp-1.2.1/bin/python", "python/server_v1.py"), SseFound, OLDEST;
    python_1_9_4_stdio: python("python/mcp-1.9.4/bin/python", "python/server_v1.py"), Stdio, SECOND;
    python_1_9_4_http: python("python/mcp-1.9.4/bin/python", "python/server_v1.py"), Http, SECOND;
    python_1_12_4_stdio: python("python/mcp-1.12.4/bin/python", "python/server_v1.py"), Stdio, Expected::version(Version::V2025_06_18);
    python_1_12_4_http: python("python/mcp-1.12.4/bin/python", "python/server_v1.py"), Http, Expected::version(Version::V2025_06_18);
    python_1_26_0_stdio: python("python/mcp-1.26.0/bin/python", "python/server_v1.py"), Stdio, Expected::version(Version::V2025_11_25);
    python_1_26_0_http: python("python/mcp-1.26.0/bin/python", "python/server_v1.py"), Http, Expected::version(Version::V2025_11_25);
    python_1_26_0_sse_found: python("python/mcp-1.26.0/bin/python", "python/server_v1.py"), SseFound, Expected::version(Version::V2025_11_25);
    python_2_3_0_stdio: python("python/mcp-2.3.0/bin/python", "python/server_v2.py"), Stdio, Expected::version(Version::V2026_07_28);
    python_2_3_0_http: python("python/mcp-2.3.0/bin/python", "python/server_v2.py"), Http, Expected::version(Version::V2026_07_28);
    fastmcp_4_stdio: python("python/fastmcp-4.1.2/bin/python", "python/fastmcp_server.py"), Stdio, Expected::version(Version::V2026_07_28);
    fastmcp_4_http: python("python/fastmcp-4.1.2/bin/python", "python/fastmcp_server.py"), Http, Expected::version(Version::V2026_07_28);
    fastmcp_4_sse: python("python/fastmcp-4.1.2/bin/python", "python/fastmcp_server.py"), Sse, Expected::version(Version::V2025_11_25);
    typescript_1_stdio: node("node/server_v1.mjs"), Stdio, Expected::version(Version::V2025_11_25);
    typescript_1_http: node("node/server_v1.mjs"), Http, Expected::version(Version::V2025_11_25);
    typescript_1_sse_found: node("node/server_v1.mjs"), SseFound, Expected::version(Version::V2025_11_25);
    typescript_2_stdio: node("node/server_v2.mjs"), Stdio, Expected::version(Version::V2026_07_28);
    typescript_2_http: node("node/server_v2.mjs"), Http, Expected::version(Version::V2026_07_28);
}
