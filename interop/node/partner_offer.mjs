// Owns what every JavaScript partner server offers, as plain values.
//
// The same names and answers are offered by the Python partners in ../python.

import { appendFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

export const SERVER_INFO = { name: 'partner', version: '1.0.0' };
export const INSTRUCTIONS = 'partner instructions';

export const NOTE_URI = 'note://one';
export const NOTE_TEXT = 'first note';

export const ASK_MESSAGE = 'What is your name?';
export const ASK_SCHEMA = {
    type: 'object',
    properties: { name: { type: 'string' } },
    required: ['name'],
};

const SLOW_MILLISECONDS = Number(process.env.PARTNER_SLOW_SECONDS ?? '60') * 1000;

export function text(value) {
    return { content: [{ type: 'text', text: value }] };
}

export function greeting(name) {
    return `Please greet ${name}.`;
}

// The text that `ask` returns for an answered elicitation.
export function asked(answer) {
    if (answer.action === 'accept') {
        return `hello ${answer.content?.name}`;
    }
    return answer.action === 'decline' ? 'declined' : 'cancelled';
}

// Runs until `signal` fires, and leaves a line in PARTNER_LOG when it does.
export async function slow(signal) {
    try {
        await delay(SLOW_MILLISECONDS, undefined, { signal });
    } catch (error) {
        if (process.env.PARTNER_LOG) {
            appendFileSync(process.env.PARTNER_LOG, 'cancelled slow\n');
        }
        throw error;
    }
    return text('slow was not cancelled');
}

// Sends the progress of `count` through the SDK's own `notify`.
export async function count(n, progressToken, notify) {
    for (let step = 1; step <= n && progressToken !== undefined; step += 1) {
        await notify({
            method: 'notifications/progress',
            params: { progressToken, progress: step, total: n },
        });
    }
    return text(`counted ${n}`);
}
