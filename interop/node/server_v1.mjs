// Partner server on the TypeScript SDK 1.x (tried with 1.32.2).
//
// Usage: server_v1.mjs stdio | http PORT | sse PORT

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

import * as offer from './partner_offer.mjs';
import { listen, pathOf, readJson, sessionHandler } from './partner_listener.mjs';

function makeServer() {
    const server = new McpServer(offer.SERVER_INFO, { instructions: offer.INSTRUCTIONS });
    server.registerTool(
        'echo',
        { description: 'Returns the message', inputSchema: { message: z.string() } },
        ({ message }) => offer.text(message),
    );
    server.registerTool(
        'add',
        {
            description: 'Adds two integers',
            inputSchema: { a: z.number().int(), b: z.number().int() },
            outputSchema: { sum: z.number().int() },
        },
        ({ a, b }) => ({ ...offer.text(String(a + b)), structuredContent: { sum: a + b } }),
    );
    server.registerTool(
        'count',
        { description: 'Reports progress n times', inputSchema: { n: z.number().int() } },
        ({ n }, extra) => offer.count(n, extra._meta?.progressToken, extra.sendNotification),
    );
    server.registerTool('slow', { description: 'Runs until it is cancelled' }, extra =>
        offer.slow(extra.signal),
    );
    server.registerTool('ask', { description: 'Asks for a name' }, async extra => {
        const answer = await server.server.elicitInput(
            { message: offer.ASK_MESSAGE, requestedSchema: offer.ASK_SCHEMA },
            { relatedRequestId: extra.requestId },
        );
        return offer.text(offer.asked(answer));
    });
    server.registerPrompt(
        'greet',
        { description: 'A greeting', argsSchema: { name: z.string() } },
        ({ name }) => ({
            messages: [{ role: 'user', content: { type: 'text', text: offer.greeting(name) } }],
        }),
    );
    server.registerResource('one', offer.NOTE_URI, { mimeType: 'text/plain' }, uri => ({
        contents: [{ uri: uri.href, mimeType: 'text/plain', text: offer.NOTE_TEXT }],
    }));
    return server;
}

function serveHttp(port) {
    const serveSession = sessionHandler(StreamableHTTPServerTransport, makeServer);
    listen(port, '/mcp', async (request, response) => {
        if (pathOf(request) !== '/mcp') {
            response.writeHead(404).end();
            return;
        }
        await serveSession(request, response);
    });
}

function serveSse(port) {
    const transports = new Map();
    listen(port, '/sse', async (request, response) => {
        const url = new URL(request.url, 'http://127.0.0.1');
        if (request.method === 'GET' && url.pathname === '/sse') {
            const transport = new SSEServerTransport('/messages', response);
            transports.set(transport.sessionId, transport);
            response.on('close', () => transports.delete(transport.sessionId));
            await makeServer().connect(transport);
            return;
        }
        const transport = transports.get(url.searchParams.get('sessionId'));
        if (request.method === 'POST' && url.pathname === '/messages' && transport) {
            await transport.handlePostMessage(request, response, await readJson(request));
            return;
        }
        response.writeHead(404).end();
    });
}

const [transport, port] = process.argv.slice(2);
if (transport === 'stdio') {
    await makeServer().connect(new StdioServerTransport());
} else if (transport === 'http' && port !== undefined) {
    serveHttp(Number(port));
} else if (transport === 'sse' && port !== undefined) {
    serveSse(Number(port));
} else {
    console.error('usage: server_v1.mjs stdio | http PORT | sse PORT');
    process.exit(2);
}
