// What the policy engine of Gemini CLI decides about calls.
//
// Reads one JSON object from stdin: `packages` (the folder with `node_modules`), `settings`, `trusted`, and `calls`, each with `name`, `server`,
// `args`, `mode` and `headless`. HOME is the home whose policies count. Prints the list of decisions: `allow`, `ask` or `deny`.

import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const input = JSON.parse(readFileSync(0, 'utf8'));
const require = createRequire(path.join(input.packages, 'x.js'));
const core = path.dirname(require.resolve('@google/gemini-cli-core/package.json'));
const load = (file) => import(pathToFileURL(path.join(core, 'dist/src/policy', file)).href);
// The engine writes what it does to the console.
console.log = console.debug = console.warn = console.info = () => {};
const { createPolicyEngineConfig } = await load('config.js');
const { PolicyEngine } = await load('policy-engine.js');

const { settings } = input;
const security = settings.security ?? {};
const given = {
  mcp: settings.mcp,
  tools: settings.tools,
  mcpServers: settings.mcpServers,
  policyPaths: settings.policyPaths,
  disableAlwaysAllow: security.disableAlwaysAllow || settings.admin?.secureModeEnabled,
};

const engines = new Map();
async function engine(mode, headless) {
  const key = `${mode} ${headless}`;
  if (!engines.has(key)) {
    const config = await createPolicyEngineConfig(given, mode, undefined, !headless);
    engines.set(key, new PolicyEngine({ ...config, isTrustedFolder: () => input.trusted }));
  }
  return engines.get(key);
}

const decisions = [];
for (const { name, server, args, mode, headless } of input.calls) {
  const call = { name: server ? `mcp_${server}_${name}` : name, args };
  const { decision } = await (await engine(mode, headless)).check(call, server);
  const shown = decision === 'ask_user' ? 'ask' : decision;
  // Where nobody can be asked, a question is a no.
  decisions.push(headless && shown === 'ask' ? 'deny' : shown);
}
process.stdout.write(JSON.stringify(decisions));
