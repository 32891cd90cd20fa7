// Runs every program once inside the unfinished image, so that Node keeps what it made of their sources (NODE_COMPILE_CACHE). A start
// with that cache takes half as long. Runs inside the build, as the user that the image is for: Node keeps one cache per user.
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'warm-'));

/** Runs to the end; or until it says it is ready, and then asks it to stop, since Node writes the cache when a process exits. */
function run(command, { environment = {}, until } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command[0], command.slice(1), {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const limit = setTimeout(() => child.kill('SIGKILL'), 60_000);
    let said = '';
    child.stdout.on('data', (text) => {
      said += text;
      if (until !== undefined && said.includes(until)) child.kill('SIGTERM');
    });
    child.on('error', reject);
    child.on('exit', (code) => {
      clearTimeout(limit);
      if (code === 0) resolve(said);
      else reject(new Error(`${command.join(' ')} exited with ${code}:\n${said}`));
    });
  });
}

await run(
  ['coffer-server', join(folder, 'data'), '--address', '127.0.0.1:9000', '--console-address', '127.0.0.1:9001'],
  {
    environment: { SVC_ROOT_USER: 'warm', SVC_ROOT_PASSWORD: 'warm-password' },
    until: '"event":"ready"',
  },
);
const [key, cert] = [join(folder, 'tls.key'), join(folder, 'tls.crt')];
const identity = await run(['keysvc', 'identity', 'new', '--ip', '127.0.0.1', '--key', key, '--cert', cert]);
const config = join(folder, 'keysvc.yaml');
writeFileSync(
  config,
  `version: v1
address: 127.0.0.1:7373
admin: { identity: disabled }
tls: { key: ${key}, cert: ${cert} }
keystore: { fs: { path: ${join(folder, 'keys')} } }
`,
);
if (!existsSync(cert)) throw new Error(`keysvc made no certificate: ${identity}`);
await run(['keysvc', 'server', '--config', config], { until: '"event":"listening"' });
for (const program of ['coffer', 'coffer-server', 'coffer-store', 'keysvc', 'coffer-operator', 'kubectl-coffer']) {
  if (existsSync(`/opt/coffer/bin/${program}`)) await run([program, '--help']);
}
// Node makes its files for their owner alone. In the image they belong to root, so that no program can change them.
for (const entry of readdirSync(process.env.NODE_COMPILE_CACHE, { recursive: true, withFileTypes: true })) {
  chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644);
}
