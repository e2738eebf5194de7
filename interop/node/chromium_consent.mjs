// A person at a real browser: opens a page in Chromium without a window, presses a
// button on it, and looks at the page that comes after.
//
// Usage: chromium_consent.mjs BUTTON FOLDER URL
//
// BUTTON is the text of the button. FOLDER receives `page.txt` with the text of the
// last page, `page.png` with what it looks like, and `failure.txt` when something
// went wrong. Started as $BROWSER, where nobody sees what is printed. Chromium is
// found by $CHROMIUM or by its Debian name.

import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const PATIENCE_MILLISECONDS = 40_000;
const LOOK_MILLISECONDS = 50;

// `find` until it gives something.
async function waitFor(what, find) {
    const deadline = Date.now() + PATIENCE_MILLISECONDS;
    for (;;) {
        const found = await find();
        if (found) {
            return found;
        }
        if (Date.now() > deadline) {
            throw new Error(`${what}: waited too long`);
        }
        await delay(LOOK_MILLISECONDS);
    }
}

function startChromium(profile) {
    const program = process.env.CHROMIUM || 'chromium';
    const options = [
        '--headless=new',
        // Chromium refuses to run for root with its sandbox, and containers often have no room for one.
        '--no-sandbox',
        '--disable-gpu',
        '--disable-dev-shm-usage',
        '--disable-background-networking',
        '--disable-component-update',
        '--no-first-run',
        '--window-size=900,600',
        '--remote-debugging-port=0',
        `--user-data-dir=${profile}`,
        'about:blank',
    ];
    const child = spawn(program, options, { stdio: 'ignore' });
    const ended = new Promise((resolve, reject) => {
        child.once('error', reject).once('exit', resolve);
    });
    return { child, ended };
}

// The DevTools address of the only page.
async function findPage(profile) {
    const port = await waitFor('the port of Chromium', async () => {
        const text = await readFile(join(profile, 'DevToolsActivePort'), 'utf8').catch(() => '');
        return text.split('\n')[0];
    });
    return waitFor('a page of Chromium', async () => {
        const answer = await fetch(`http://127.0.0.1:${port}/json/list`).catch(() => undefined);
        const targets = answer ? await answer.json() : [];
        return targets.find(target => target.type === 'page')?.webSocketDebuggerUrl;
    });
}

// Sends commands of the DevTools protocol to a page.
async function attach(address) {
    const socket = new WebSocket(address);
    await new Promise((resolve, reject) => {
        socket.onopen = resolve;
        socket.onerror = () => reject(new Error('Chromium does not talk'));
    });
    const waiting = new Map();
    let last = 0;
    socket.onmessage = ({ data }) => {
        const { id, result, error } = JSON.parse(data);
        waiting.get(id)?.({ result, error });
        waiting.delete(id);
    };
    return async (method, params = {}) => {
        last += 1;
        const answered = new Promise(resolve => waiting.set(last, resolve));
        socket.send(JSON.stringify({ id: last, method, params }));
        const { result, error } = await answered;
        if (error) {
            throw new Error(`${method}: ${error.message}`);
        }
        return result;
    };
}

// What an expression is worth on the page; nothing while the page is being exchanged for another.
async function evaluate(send, expression) {
    const answer = await send('Runtime.evaluate', { expression, returnByValue: true }).catch(() => undefined);
    return answer?.result?.value;
}

async function visit(send, url, button) {
    await send('Page.navigate', { url });
    const press = `(() => {
        const buttons = [...document.querySelectorAll('button')];
        const found = buttons.find(one => one.innerText.trim() === ${JSON.stringify(button)});
        if (document.readyState === 'complete' && found) {
            found.click();
            return location.origin;
        }
    })()`;
    const origin = await waitFor(`the button ${button}`, () => evaluate(send, press));
    const isElsewhere = `location.origin !== ${JSON.stringify(origin)}`;
    const read = `document.readyState === 'complete' && ${isElsewhere} && document.body.innerText`;
    const text = await waitFor('the page after the button', () => evaluate(send, read));
    const { data } = await send('Page.captureScreenshot', { format: 'png' });
    return { text, picture: Buffer.from(data, 'base64') };
}

async function main(button, folder, url) {
    const profile = join(folder, 'profile');
    const { child, ended } = startChromium(profile);
    const gone = ended.then(() => {
        throw new Error('Chromium has ended by itself');
    });
    const look = async () => visit(await attach(await findPage(profile)), url, button);
    const { text, picture } = await Promise.race([look(), gone]).finally(() => child.kill());
    // It goes on writing to its profile until it is gone.
    await ended;
    await writeFile(join(folder, 'page.png'), picture);
    await writeFile(join(folder, 'page.txt'), `${text.trim()}\n`);
}

const [button, folder, url] = process.argv.slice(2);
if (url === undefined) {
    console.error('usage: chromium_consent.mjs BUTTON FOLDER URL');
    process.exit(2);
}
try {
    await main(button, folder, url);
    process.exit(0);
} catch (error) {
    await writeFile(join(folder, 'failure.txt'), `${error.stack}\n`);
    process.exit(1);
}
