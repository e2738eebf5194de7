// Owns what a JavaScript partner client asks of a server, and how it reports it.
//
// A client program hands `run` a function that connects its SDK's client; the
// methods used here are the same in both SDK generations. The questions and the
// report are the same as those of the Python partners in ../python.

import { existsSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const ECHO_MESSAGE = 'hello wörld ✓';
const COUNT_STEPS = 3;
const NOTE_URI = 'note://one';
const CANCEL_AFTER_MILLISECONDS = 500;
const LOG_POLL_MILLISECONDS = 50;
const LOG_MILLISECONDS_MAX = 20_000;
const INTERVIEW_MILLISECONDS_MAX = 120_000;

export const ANSWERED_NAME = 'Ada';
export const CLIENT_INFO = { name: 'partner-client', version: '1.0.0' };
export const ERAS = ['legacy', 'auto', 'pin'];

// The server to talk to, as given on the command line.
export function parseTarget(defaultEra) {
    const separator = process.argv.findIndex(value => ['stdio', 'http', 'sse'].includes(value));
    const usage = `usage: [--no-cancel] [--era ${ERAS.join('|')}] stdio COMMAND [ARGUMENT...] | http URL | sse URL`;
    if (separator < 0 || process.argv.length < separator + 2) {
        throw new Error(usage);
    }
    const { values } = parseArgs({
        args: process.argv.slice(2, separator),
        options: { era: { type: 'string', default: defaultEra }, 'no-cancel': { type: 'boolean' } },
    });
    if (!ERAS.includes(values.era)) {
        throw new Error(usage);
    }
    const [transport, place, ...args] = process.argv.slice(separator);
    return { transport, place, args, era: values.era, cancels: !values['no-cancel'] };
}

async function callText(client, name, args, options) {
    const answer = await client.call(name, args, options);
    if (answer.isError) {
        throw new Error(`the tool failed: ${JSON.stringify(answer.content)}`);
    }
    return answer;
}

async function cancelSlow(client) {
    const controller = new AbortController();
    setTimeout(() => controller.abort('the interview is impatient'), CANCEL_AFTER_MILLISECONDS);
    try {
        await client.call('slow', {}, { signal: controller.signal });
    } catch (error) {
        if (controller.signal.aborted) {
            return true;
        }
        throw error;
    }
    return false;
}

// With PARTNER_AWAIT_LOG set, goes on only when the server has logged the
// cancellation: a server that is stopped also cancels its tools, so the log
// proves nothing once the connection is closed.
async function awaitCancellationLog() {
    const path = process.env.PARTNER_AWAIT_LOG;
    const deadline = Date.now() + LOG_MILLISECONDS_MAX;
    while (path && !(existsSync(path) && statSync(path).size > 0)) {
        if (Date.now() > deadline) {
            throw new Error(`the cancellation did not reach the server within ${LOG_MILLISECONDS_MAX} ms`);
        }
        await delay(LOG_POLL_MILLISECONDS);
    }
}

// Asks everything once, in a fixed order, over one connection. `--no-cancel`
// leaves out `slow`; the report then says `cancelled: false`.
async function interview(client, target) {
    const tools = await client.toolNames();
    const report = { ...client.about(), tools };
    report.echo = (await callText(client, 'echo', { message: ECHO_MESSAGE })).content[0].text;
    const added = await callText(client, 'add', { a: 2, b: 3 });
    report.add = added.content[0].text;
    report.structured = added.structuredContent ?? null;
    // `onprogress` makes the SDK ask for progress, but it forgets the callback when
    // the result arrives in the same read; the notifications themselves are all seen.
    const counted = await callText(client, 'count', { n: COUNT_STEPS }, { onprogress: () => {} });
    report.progress = client.progressSeen();
    if (counted.content[0].text !== `counted ${COUNT_STEPS}`) {
        throw new Error(`count answered ${JSON.stringify(counted.content)}`);
    }
    report.cancelled = target.cancels && (await cancelSlow(client));
    if (report.cancelled) {
        await awaitCancellationLog();
    }
    report.ask = tools.includes('ask') ? (await callText(client, 'ask', {})).content[0].text : 'unsupported';
    report.prompt = await client.prompt('greet', { name: ANSWERED_NAME });
    report.resource = await client.resource(NOTE_URI);
    const toolsAgain = await client.toolNames();
    if (toolsAgain.join() !== tools.join()) {
        throw new Error(`the second tools/list differs: ${toolsAgain}`);
    }
    return report;
}

// Connects with `connect(target)`, asks, prints the report and ends the program.
export async function run(defaultEra, connect) {
    try {
        const target = parseTarget(defaultEra);
        const late = setTimeout(() => {
            console.error(`no report after ${INTERVIEW_MILLISECONDS_MAX} ms`);
            process.exit(1);
        }, INTERVIEW_MILLISECONDS_MAX);
        const client = await connect(target);
        const report = await interview(client, target);
        await client.close();
        clearTimeout(late);
        process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit(0));
    } catch (error) {
        console.error(error);
        process.exit(1);
    }
}
