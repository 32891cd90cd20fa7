import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL, fileURLToPath } from 'node:url';
import { ask } from '../../bench/generator/ask.ts';
import { PutObjectCommand, HeadObjectCommand, S3Client } from '@aws-sdk/client-s3';

const checkout = resolve(process.argv[2] ?? '.');
const folder = await mkdtemp('/tmp/coffer-counts-');
const child = spawn(
  process.execPath,
  [
    '--import',
    fileURLToPath(new URL('in-thread.js', import.meta.url)),
    join(checkout, 'server/main.ts'),
    folder,
    '--address',
    '127.0.0.1:0',
    '--console-address',
    '127.0.0.1:0',
  ],
  {
    env: {
      PATH: process.env['PATH'],
      NODE_OPTIONS: '--import ' + fileURLToPath(new URL('in-thread.js', import.meta.url)),
      SVC_ROOT_USER: 'root',
      SVC_ROOT_PASSWORD: 'root-password',
      SVC_CONFIG_ENV_FILE: '/dev/null',
      SVC_THREADS: '1',
    },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  },
);
let port = 0;
for await (const line of createInterface({ input: child.stdout! })) {
  const entry = JSON.parse(line);
  if (entry.event === 'listening') port = Number(new URL(entry.s3).port);
  if (entry.event === 'ready') break;
}
child.stdout!.resume();
const endpoint = { host: '127.0.0.1', port, accessKey: 'root', secretKey: 'root-password', region: 'us-east-1' };
const put = () => ask(endpoint, { method: 'PUT', path: '/counts/object', query: '' }, Buffer.alloc(1024, 1));
const head = () => ask(endpoint, { method: 'HEAD', path: '/counts/object', query: '' });
const s3 = new S3Client({
  endpoint: `http://127.0.0.1:${port}`,
  region: 'us-east-1',
  forcePathStyle: true,
  credentials: { accessKeyId: 'root', secretAccessKey: 'root-password' },
});
const sput = () => s3.send(new PutObjectCommand({ Bucket: 'counts', Key: 'object', Body: Buffer.alloc(1024, 1) }));
const shead = () => s3.send(new HeadObjectCommand({ Bucket: 'counts', Key: 'object' }));
async function take(): Promise<string[]> {
  const p = once(child, 'message');
  child.send('take');
  const [urls] = await p;
  const root = pathToFileURL(checkout).href + '/';
  return (urls as string[])
    .filter((u) => u.startsWith(root) && !u.includes('node_modules') && !u.includes('test/counts'))
    .map((u) => u.slice(root.length))
    .sort();
}
await ask(endpoint, { method: 'PUT', path: '/counts', query: '' });
for (let i = 0; i < 30; i++) {
  await put();
  await head();
  await sput();
  await shead();
}
await new Promise((r) => setTimeout(r, 1000));
for (const [name, act] of [
  ['idle', async () => {}],
  ['PUT', put],
  ['HEAD', head],
  ['SDK PUT', sput],
  ['SDK HEAD', shead],
] as const) {
  await take();
  await act();
  const files = await take();
  console.log(name, files.length);
  console.log(files.map((f) => '  ' + f).join('\n'));
}
child.kill();
