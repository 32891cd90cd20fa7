import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { CreateBucketCommand, HeadObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';

const inThread = fileURLToPath(new URL('in-thread.js', import.meta.url));
const credentials = { accessKeyId: 'root', secretAccessKey: 'root-password' };
const object = { Bucket: 'counts', Key: 'object' } as const;
/** Requests before the counted ones: caches are full and the connection is open. */
const warmUp = 30;
/** Requests that are counted. A file counts when each of them enters it: timers run between requests, too. */
const counted = 3;

export interface EnteredFiles {
  readonly put: readonly string[];
  readonly head: readonly string[];
}

/**
 * The source files that one warmed-up request enters in the HTTP thread of a server: a PUT of 1 KiB and a HEAD of an AWS client, with the
 * root user's signature, on a server with a data folder and without encryption.
 *
 * @param folderOfCheckout the project that is counted; its packages are installed
 */
export async function enteredFiles(folderOfCheckout: string): Promise<EnteredFiles> {
  const checkout = resolve(folderOfCheckout);
  const folder = await mkdtemp(join(tmpdir(), 'coffer-counts-'));
  const server = start(checkout, folder);
  try {
    const client = new S3Client({
      endpoint: await untilReady(server),
      region: 'us-east-1',
      forcePathStyle: true,
      credentials,
    });
    const put = () => client.send(new PutObjectCommand({ ...object, Body: Buffer.alloc(1_024, 1) }));
    const head = () => client.send(new HeadObjectCommand(object));
    await client.send(new CreateBucketCommand({ Bucket: object.Bucket }));
    for (let request = 0; request < warmUp; request++) {
      await put();
      await head();
    }
    const take = () => takeFiles(server, checkout);
    return { put: await filesOf(put, take), head: await filesOf(head, take) };
  } finally {
    server.kill('SIGKILL');
    await once(server, 'exit');
    await rm(folder, { recursive: true, force: true });
  }
}

function start(checkout: string, folder: string): ChildProcess {
  const listen = ['--address', '127.0.0.1:0', '--console-address', '127.0.0.1:0'];
  return spawn(process.execPath, [join(checkout, 'server/main.ts'), folder, ...listen], {
    env: {
      PATH: process.env['PATH'],
      NODE_OPTIONS: `--disable-warning=ExperimentalWarning --import=${pathToFileURL(inThread).href}`,
      SVC_ROOT_USER: credentials.accessKeyId,
      SVC_ROOT_PASSWORD: credentials.secretAccessKey,
      SVC_CONFIG_ENV_FILE: '/dev/null',
      SVC_THREADS: '1',
    },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
}

/** The server's endpoint for S3. */
async function untilReady({ stdout }: ChildProcess): Promise<string> {
  let endpoint = '';
  if (stdout === null) throw new Error('the server has no output');
  for await (const line of createInterface({ input: stdout })) {
    const entry = JSON.parse(line) as { readonly event?: string; readonly s3?: string };
    endpoint = entry.s3 ?? endpoint;
    if (entry.event === 'ready') {
      stdout.resume();
      return endpoint;
    }
  }
  throw new Error('the server ended before it was ready');
}

async function filesOf(request: () => Promise<unknown>, take: () => Promise<string[]>): Promise<readonly string[]> {
  let files: string[] | undefined;
  for (let at = 0; at < counted; at++) {
    await take();
    await request();
    const entered = await take();
    files = files === undefined ? entered : files.filter((file) => entered.includes(file));
  }
  return files ?? [];
}

async function takeFiles(server: ChildProcess, checkout: string): Promise<string[]> {
  const answer = once(server, 'message') as Promise<[string[]]>;
  server.send('take');
  const [urls] = await answer;
  const root = `${pathToFileURL(checkout).href}/`;
  return urls
    .filter((url) => url.startsWith(root) && !url.includes('/node_modules/') && !url.endsWith('/in-thread.js'))
    .map((url) => url.slice(root.length))
    .sort();
}
