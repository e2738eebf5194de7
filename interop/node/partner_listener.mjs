// Owns what every JavaScript partner server needs to listen on loopback:
// the announced address, request bodies, and sessions of streamable HTTP.

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

// Serves `handle(request, response)` and announces the URL as the first line on stderr.
export function listen(port, path, handle) {
    const listener = createServer((request, response) => {
        handle(request, response).catch(error => {
            console.error(error);
            if (!response.headersSent) {
                response.writeHead(500).end();
            }
        });
    });
    listener.listen(port, '127.0.0.1', () => {
        console.error(`listening http://127.0.0.1:${listener.address().port}${path}`);
    });
}

// The parsed body of a POST; undefined when there is none or it is not JSON.
export async function readJson(request) {
    const chunks = [];
    for await (const chunk of request) {
        chunks.push(chunk);
    }
    try {
        return JSON.parse(Buffer.concat(chunks).toString('utf8'));
    } catch {
        return undefined;
    }
}

export function pathOf(request) {
    return new URL(request.url, 'http://127.0.0.1').pathname;
}

// Streamable HTTP with sessions, wired by hand as the SDK's examples do it:
// `initialize` opens a session with its own server, later requests name it.
export function sessionHandler(Transport, makeServer) {
    const sessions = new Map();
    return async (request, response, body) => {
        const id = request.headers['mcp-session-id'];
        let transport = sessions.get(id);
        if (!transport && id !== undefined) {
            const error = { code: -32001, message: 'Session not found' };
            response.writeHead(404, { 'content-type': 'application/json' });
            response.end(JSON.stringify({ jsonrpc: '2.0', error, id: null }));
            return;
        }
        if (!transport) {
            transport = new Transport({
                sessionIdGenerator: randomUUID,
                onsessioninitialized: opened => sessions.set(opened, transport),
                onsessionclosed: closed => sessions.delete(closed),
            });
            await makeServer().connect(transport);
        }
        await transport.handleRequest(request, response, body);
    };
}
