// Partner client on the TypeScript SDK 1.x (tried with 1.32.2).
//
// Usage: client_v1.mjs [--no-cancel] stdio COMMAND [ARGUMENT...] | http URL | sse URL

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema, ProgressNotificationSchema } from '@modelcontextprotocol/sdk/types.js';

import { ANSWERED_NAME, CLIENT_INFO, run } from './partner_interview.mjs';

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
    const client = new Client(CLIENT_INFO, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, () => ({
        action: 'accept',
        content: { name: ANSWERED_NAME },
    }));
    const progress = [];
    client.setNotificationHandler(ProgressNotificationSchema, ({ params }) => {
        progress.push(params.progress);
    });
    const transport = transportOf(target);
    // The client tells its transport which version was agreed on, and nobody else.
    let protocolVersion;
    const tellTransport = transport.setProtocolVersion?.bind(transport);
    transport.setProtocolVersion = version => {
        protocolVersion = version;
        tellTransport?.(version);
    };
    await client.connect(transport);
    return {
        about: () => ({
            protocolVersion,
            serverInfo: client.getServerVersion(),
            instructions: client.getInstructions() ?? null,
        }),
        progressSeen: () => progress,
        toolNames: async () => (await client.listTools()).tools.map(tool => tool.name),
        call: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
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
