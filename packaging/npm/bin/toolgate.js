#!/usr/bin/env node
// Runs the program that this package carries, with the same words, streams, signals and exit code.
'use strict';

const { spawn } = require('node:child_process');
const { constants } = require('node:os');
const path = require('node:path');
const { isatty } = require('node:tty');

const program = path.join(__dirname, '..', 'lib', 'toolgate');
const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' });

// A terminal sends these to the program as well. Passing them on would make two of one.
const ofTerminal = ['SIGINT', 'SIGQUIT', 'SIGHUP'];
const hasTerminal = [0, 1, 2].some(isatty);
for (const signal of ['SIGTERM', ...ofTerminal]) {
  process.on(signal, () => {
    if (!hasTerminal || !ofTerminal.includes(signal)) child.kill(signal);
  });
}

child.on('error', (error) => {
  process.stderr.write(`error: cannot run ${program}: ${error.message}\n`);
  process.stderr.write('hint: the package is for Linux on x86-64 with glibc; install it again with `npm install`\n');
  process.exitCode = 126;
});

child.on('exit', (code, signal) => {
  if (signal === null) {
    process.exit(code);
  }
  // End in the same way, so that the caller sees the signal. A signal that does not end this process becomes an exit code.
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  setTimeout(() => process.exit(128 + constants.signals[signal]), 100);
});
