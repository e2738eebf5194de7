// Owns the check of proofs of possession (RFC 9449) at a protected server, with the
// npm package `jose`.

import { createHash } from 'node:crypto';

import { calculateJwkThumbprint, EmbeddedJWK, jwtVerify } from 'jose';

// Names of proofs that were shown; each is good once.
const shown = new Set();

// Whether the proof of a request to `url` fits the token and was made with the key of this thumbprint.
export async function isProven(request, url, token, thumbprint) {
    const rules = { typ: 'dpop+jwt', algorithms: ['ES256'], maxTokenAge: '1 minute' };
    const proof = await jwtVerify(request.headers.dpop ?? '', EmbeddedJWK, rules).catch(() => undefined);
    if (proof === undefined || shown.has(proof.payload.jti)) {
        return false;
    }
    shown.add(proof.payload.jti);
    const { htm, htu, ath } = proof.payload;
    const hash = createHash('sha256').update(token).digest('base64url');
    const key = await calculateJwkThumbprint(proof.protectedHeader.jwk);
    return htm === request.method && htu === url && ath === hash && key === thumbprint;
}
