// Partner server on the TypeScript SDK v2 (tried with 2.4.0), which serves both eras.
//
// Usage: server_v2.mjs stdio | http PORT | http-stateless PORT
//
// `http` keeps sessions for clients up to 2025-11-25, so that they can be asked
// and can cancel; `http-stateless` is the SDK's own default for them: no session
// id, GET and DELETE answered with 405. This SDK has no HTTP+SSE server.

import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from '@modelcontextprotocol/node';
import {
    createMcpHandler,
    inputRequired,
    inputResponse,
    isLegacyRequest,
    McpServer,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

import * as offer from './partner_offer.mjs';
import { listen, pathOf, readJson, sessionHandler } from './partner_listener.mjs';

const QUESTION_KEY = 'name';

function makeServer() {
    const server = new McpServer(offer.SERVER_INFO, { instructions: offer.INSTRUCTIONS });
    server.registerTool(
        'echo',
        { description: 'Returns the message', inputSchema: z.object({ message: z.string() }) },
        ({ message }) => offer.text(message),
    );
    server.registerTool(
        'add',
        {
            description: 'Adds two integers',
            inputSchema: z.object({ a: z.number().int(), b: z.number().int() }),
            outputSchema: z.object({ sum: z.number().int() }),
        },
        ({ a, b }) => ({ ...offer.text(String(a + b)), structuredContent: { sum: a + b } }),
    );
    server.registerTool(
        'count',
        { description: 'Reports progress n times', inputSchema: z.object({ n: z.number().int() }) },
        ({ n }, { mcpReq }) => offer.count(n, mcpReq._meta?.progressToken, mcpReq.notify),
    );
    server.registerTool('slow', { description: 'Runs until it is cancelled' }, ({ mcpReq }) =>
        offer.slow(mcpReq.signal),
    );
    server.registerTool('ask', { description: 'Asks for a name' }, ({ mcpReq }) => ask(mcpReq));
    server.registerPrompt(
        'greet',
        { description: 'A greeting', argsSchema: z.object({ name: z.string() }) },
        ({ name }) => ({
            messages: [{ role: 'user', content: { type: 'text', text: offer.greeting(name) } }],
        }),
    );
    server.registerResource('one', offer.NOTE_URI, { mimeType: 'text/plain' }, uri => ({
        contents: [{ uri: uri.href, mimeType: 'text/plain', text: offer.NOTE_TEXT }],
    }));
    return server;
}

// Written once for both eras: for older clients the SDK sends the question itself
// and calls the tool again with the answer.
function ask(mcpReq) {
    const answer = inputResponse(mcpReq.inputResponses, QUESTION_KEY);
    if (answer.kind === 'elicit') {
        return offer.text(offer.asked(answer));
    }
    const question = inputRequired.elicit({
        message: offer.ASK_MESSAGE,
        requestedSchema: offer.ASK_SCHEMA,
    });
    return inputRequired({ inputRequests: { [QUESTION_KEY]: question } });
}

function serveHttp(port, legacy) {
    const serveModern = toNodeHandler(createMcpHandler(makeServer, { legacy }));
    const serveSession = sessionHandler(NodeStreamableHTTPServerTransport, makeServer);
    listen(port, '/mcp', async (request, response) => {
        if (pathOf(request) !== '/mcp') {
            response.writeHead(404).end();
            return;
        }
        const body = request.method === 'POST' ? await readJson(request) : undefined;
        const keepsSession = legacy === 'reject' && (await isLegacyRequest(await toWebRequest(request, body)));
        await (keepsSession ? serveSession : serveModern)(request, response, body);
    });
}

const [transport, port] = process.argv.slice(2);
if (transport === 'stdio') {
    serveStdio(makeServer);
} else if (transport === 'http' && port !== undefined) {
    serveHttp(Number(port), 'reject');
} else if (transport === 'http-stateless' && port !== undefined) {
    serveHttp(Number(port), 'stateless');
} else {
    console.error('usage: server_v2.mjs stdio | http PORT | http-stateless PORT');
    process.exit(2);
}
