/**
 * The rule of the project `unit`: its files share a worker, so that a test opens no socket and starts no process or thread. What
 * needs one is named `NAME.process.test.ts` and belongs to the project `process`. A test that breaks the rule fails and is told so.
 */
import childProcess from 'node:child_process';
import dgram from 'node:dgram';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import threads from 'node:worker_threads';
import { afterEach } from 'vitest';

const broken: string[] = [];
const key = Symbol.for('coffer.unit');

function refuse(owner: object, name: string): void {
  const rejected = function (): never {
    const error = new Error(`${name}: a unit test opens no socket and starts no process; name it .process.test.ts`);
    broken.push(error.stack ?? error.message);
    throw error;
  };
  Object.defineProperty(owner, name, { value: rejected, configurable: true, writable: true });
}

if (!Object.hasOwn(globalThis, key)) {
  Object.defineProperty(globalThis, key, { value: broken });
  refuse(net.Server.prototype, 'listen');
  refuse(net.Socket.prototype, 'connect');
  refuse(dgram, 'createSocket');
  for (const name of ['spawn', 'fork', 'exec', 'execFile', 'spawnSync', 'execSync', 'execFileSync'])
    refuse(childProcess, name);
  refuse(threads, 'Worker');
  syncBuiltinESMExports();
}

/** Code that catches the error must not hide it. */
afterEach(() => {
  const seen: string[] = Reflect.get(globalThis, key);
  if (seen.length > 0) throw new Error(seen.splice(0).join('\n'));
});
