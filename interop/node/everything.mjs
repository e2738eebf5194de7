// Starts `@modelcontextprotocol/server-everything` the way the other partner
// servers are started.
//
// Usage: everything.mjs stdio | http PORT | sse PORT
//
// Started by itself that server listens on every network interface and on a
// fixed port; here it listens on loopback only, takes port 0, and its URL is the
// first line on stderr. What it serves is untouched.

import { Server } from 'node:net';

const ENTRY = import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js');
const LISTENING = {
    http: { transport: 'streamableHttp', path: '/mcp' },
    sse: { transport: 'sse', path: '/sse' },
};

function listenOnLoopback(path) {
    const say = console.error;
    const heldBack = [];
    console.error = (...words) => heldBack.push(words);
    const listen = Server.prototype.listen;
    Server.prototype.listen = function (port, ...rest) {
        this.once('listening', () => {
            console.error = say;
            say(`listening http://127.0.0.1:${this.address().port}${path}`);
            heldBack.forEach(words => say(...words));
        });
        return listen.call(this, Number(port), '127.0.0.1', ...rest);
    };
}

const [kind, port] = process.argv.slice(2);
const listening = LISTENING[kind];
if (kind !== 'stdio' && (listening === undefined || port === undefined)) {
    console.error('usage: everything.mjs stdio | http PORT | sse PORT');
    process.exit(2);
}
if (listening) {
    listenOnLoopback(listening.path);
    process.env.PORT = port;
}
process.argv[2] = listening?.transport ?? 'stdio';
await import(ENTRY);
