// Protected MCP server on the TypeScript SDK v2, with the authorization server of
// the npm package `oidc-provider` beside it, which has an origin of its own.
//
// Usage: oidc.mjs PORT [TOKEN_SECONDS [dpop]]
//
// Clients register themselves, must use PKCE, and say what their token is for. A
// token lives for TOKEN_SECONDS (3600); it is renewed with a refresh token that is
// good once and is given only for `offline_access`. Logins go through the pages of
// `oidc-provider` itself, in a browser or with a code from another device. With
// `dpop`, tokens are bound to a key of the client, and the authorization server
// wants a nonce in every proof of it.
//
// PARTNER_LOG=FILE: one line for each step that the authorization server completes.

import { randomBytes } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';

import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { Provider } from 'oidc-provider';
import { z } from 'zod';

import * as offer from './partner_offer.mjs';
import { pathOf, readJson } from './partner_listener.mjs';
import { isProven } from './partner_proof.mjs';

const SCOPE = 'partner:use';
const METADATA_PATH = '/.well-known/oauth-protected-resource/mcp';

function log(line) {
    if (process.env.PARTNER_LOG) {
        appendFileSync(process.env.PARTNER_LOG, `${line}\n`);
    }
}

// A server on a free or given port of 127.0.0.1, which hears its handler's name later:
// what it answers depends on where it is.
async function opened(port) {
    const listener = createServer();
    await new Promise((resolve, reject) => {
        listener.once('error', reject).listen(port, '127.0.0.1', resolve);
    });
    return { listener, origin: `http://127.0.0.1:${listener.address().port}` };
}

function makeProvider(issuer, resource, tokenSeconds) {
    const provider = new Provider(issuer, {
        features: {
            dPoP: { enabled: true, nonceSecret: randomBytes(32), requireNonce: () => true },
            deviceFlow: { enabled: true },
            registration: { enabled: true },
            resourceIndicators: {
                enabled: true,
                getResourceServerInfo(context, indicator) {
                    if (indicator !== resource) {
                        throw new Error(`tokens are given for ${resource} only`);
                    }
                    return { scope: SCOPE, audience: resource, accessTokenTTL: tokenSeconds };
                },
                useGrantedResource: () => true,
            },
            revocation: { enabled: true },
        },
        findAccount: (context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
        pkce: { required: () => true },
        rotateRefreshToken: true,
        ttl: { DeviceCode: 600, Grant: 3600, Interaction: 600, RefreshToken: 3600, Session: 3600 },
    });
    provider.on('registration_create.success', () => log('registered'));
    provider.on('grant.success', context => log(`granted ${context.oidc.params.grant_type}`));
    provider.on('refresh_token.consumed', () => log('used a refresh token'));
    provider.on('grant.revoked', () => log('revoked'));
    for (const failure of ['authorization', 'grant', 'registration_create', 'revocation', 'server']) {
        const event = failure === 'server' ? 'server_error' : `${failure}.error`;
        provider.on(event, (context, error) => log(`failed ${failure}: ${error.error_description ?? error.message}`));
    }
    return provider;
}

function makeServer() {
    const server = new McpServer(offer.SERVER_INFO, { instructions: offer.INSTRUCTIONS });
    server.registerTool(
        'echo',
        { description: 'Returns the message', inputSchema: z.object({ message: z.string() }) },
        ({ message }) => offer.text(message),
    );
    return server;
}

// Whether a request carries a token of this provider that is good for this server.
async function isAllowed(provider, request, resource, wantsProof) {
    const [scheme, token] = (request.headers.authorization ?? '').split(' ');
    if (scheme !== (wantsProof ? 'DPoP' : 'Bearer') || !token) {
        return false;
    }
    const found = await provider.AccessToken.find(token);
    if (found === undefined || found.isExpired || found.aud !== resource || !found.scopes.has(SCOPE)) {
        return false;
    }
    return !wantsProof || isProven(request, resource, token, found.jkt);
}

function refuse(request, response, origin, wantsProof) {
    const scheme = wantsProof ? 'DPoP algs="ES256", ' : 'Bearer ';
    const error = request.headers.authorization ? 'error="invalid_token", ' : '';
    const where = `resource_metadata="${origin}${METADATA_PATH}", scope="${SCOPE}"`;
    response.writeHead(401, { 'www-authenticate': `${scheme}${error}${where}` }).end();
}

async function main(port, tokenSeconds, wantsProof) {
    const [issuer, service] = [await opened(0), await opened(port)];
    const resource = `${service.origin}/mcp`;
    const provider = makeProvider(issuer.origin, resource, tokenSeconds);
    issuer.listener.on('request', provider.callback());
    const serve = toNodeHandler(createMcpHandler(makeServer, { legacy: 'stateless' }));
    service.listener.on('request', async (request, response) => {
        if (pathOf(request) === METADATA_PATH) {
            const metadata = {
                resource,
                authorization_servers: [issuer.origin],
                scopes_supported: [SCOPE],
                dpop_bound_access_tokens_required: wantsProof,
            };
            response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(metadata));
        } else if (pathOf(request) !== '/mcp') {
            response.writeHead(404).end();
        } else if (await isAllowed(provider, request, resource, wantsProof)) {
            await serve(request, response, request.method === 'POST' ? await readJson(request) : undefined);
        } else {
            refuse(request, response, service.origin, wantsProof);
        }
    });
    console.error(`listening ${resource}`);
}

const [port, tokenSeconds = '3600', proof] = process.argv.slice(2);
if (port === undefined || ![undefined, 'dpop'].includes(proof)) {
    console.error('usage: oidc.mjs PORT [TOKEN_SECONDS [dpop]]');
    process.exit(2);
}
await main(Number(port), Number(tokenSeconds), proof !== undefined);
