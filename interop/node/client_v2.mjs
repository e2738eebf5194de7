// Partner client on the TypeScript SDK v2 (tried with 2.4.0).
//
// Usage: client_v2.mjs [--no-cancel] [--era legacy|auto|pin] stdio COMMAND [ARGUMENT...] | http URL | sse URL
//
// `legacy` is the SDK's default and sends `initialize` at once; `auto` probes
// with `server/discover` and falls back; `pin` insists on 2026-07-28. Over stdio
// the probe runs in a child process of its own that is ended again.

import { Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { ANSWERED_NAME, CLIENT_INFO, run } from './partner_interview.mjs';

const MODERN_VERSION = '2026-07-28';

function transportOf({ transport, place, args }) {
    switch (transport) {
        case 'stdio':
            return new StdioClientTransport({ command: place, args, env: process.env });
        case 'sse':
            return new SSEClientTransport(new URL(place));
        default:
            return new StreamableHTTPClientTransport(new URL(place));
    }
}

async function connect(target) {
    const mode = target.era === 'pin' ? { pin: MODERN_VERSION } : target.era;
    const client = new Client(CLIENT_INFO, {
        capabilities: { elicitation: { form: {} } },
        versionNegotiation: { mode },
    });
    client.setRequestHandler('elicitation/create', () => ({
        action: 'accept',
        content: { name: ANSWERED_NAME },
    }));
    const progress = [];
    client.setNotificationHandler('notifications/progress', ({ params }) => {
        progress.push(params.progress);
    });
    const transport = transportOf(target);
    await client.connect(transport);
    return {
        about: () => ({
            protocolVersion: client.getNegotiatedProtocolVersion(),
            serverInfo: client.getServerVersion() ?? null,
            instructions: client.getInstructions() ?? null,
        }),
        progressSeen: () => progress,
        toolNames: async () =>
            (await client.listTools(undefined, { cacheMode: 'refresh' })).tools.map(tool => tool.name),
        call: (name, args, options) => client.callTool({ name, arguments: args }, options),
        prompt: async (name, args) =>
            (await client.getPrompt({ name, arguments: args })).messages[0].content.text,
        resource: async uri => (await client.readResource({ uri })).contents[0].text,
        close: async () => {
            await transport.terminateSession?.();
            await client.close();
        },
    };
}

await run('legacy', connect);
