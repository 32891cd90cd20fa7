import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CreateBucketCommand, PutBucketVersioningCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { runCommand, tool } from '../../support/process/run-command.ts';
import { s3Client } from '../../support/server/s3-client.ts';
import { StockMc } from '../stock-mc.ts';
import { mcCommands } from './mc-commands.ts';
import { startRecordingProxy } from './recording-proxy.ts';

export interface Account {
  readonly url: string;
  readonly accessKey: string;
  readonly secretKey: string;
}

/** What came of a call of a client. */
export interface Result {
  readonly call: string;
  /** `done`, or the code of the refusal, or what the client says. */
  readonly end: string;
  /** What the client made of the answer. */
  readonly answer: unknown;
  /** `GET /minio/admin/v3/info`. */
  readonly requests: readonly string[];
}

export interface Walked {
  /** What the client can call, where it says that. */
  readonly methods: readonly string[];
  readonly results: readonly Result[];
}

/** Makes what the calls act on. */
export async function prepare({ url, accessKey, secretKey }: Account): Promise<void> {
  const s3 = s3Client({ s3: url, accessKey, secretKey });
  for (const Bucket of ['madmin', 'other', 'target']) {
    await s3.send(new CreateBucketCommand({ Bucket }));
    await s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }));
  }
  await s3.send(new PutObjectCommand({ Bucket: 'madmin', Key: 'a', Body: '123' }));
  s3.destroy();
}

const sent = ({ url, accessKey, secretKey }: Account) => ({ address: new URL(url).host, accessKey, secretKey });

/** Calls each method of madmin-go, or the named ones, about the key of that name where it has one. */
export async function walkMadmin(
  account: Account,
  target: Account,
  only: readonly string[] = [],
  key?: string,
): Promise<Walked> {
  const input = JSON.stringify({ ...sent(account), target: sent(target), only, ...(key !== undefined && { key }) });
  const { code, stdout, stderr } = await runCommand(tool('bin/madmin-calls', 'madmin'), [], {
    input,
    timeoutMs: 300_000,
  });
  if (code !== 0) throw new Error(`madmin-calls ended with ${code}: ${stderr}`);
  const [first = '', ...lines] = stdout.trim().split('\n');
  return {
    ...(JSON.parse(first) as Pick<Walked, 'methods'>),
    results: lines.map((line) => JSON.parse(line) as Result),
  };
}

/** Calls each method of the administrator of minio-py, or the named ones. */
export async function walkMinioPy(account: Account, only: readonly string[] = []): Promise<Walked> {
  const script = fileURLToPath(new URL('minio_admin.py', import.meta.url));
  const { code, stdout, stderr } = await runCommand(tool('minio-py/bin/python', 'minio-py'), [script], {
    input: JSON.stringify({ ...sent(account), only }),
    timeoutMs: 240_000,
  });
  if (code !== 0) throw new Error(stderr);
  const read = JSON.parse(stdout) as {
    readonly methods: readonly string[];
    readonly results: readonly (readonly [string, string, unknown, readonly string[]])[];
  };
  return {
    methods: read.methods,
    results: read.results.map(([call, end, answer, requests]) => ({ call, end, answer, requests })),
  };
}

/** Calls each method of the administrator of minio-java. */
export async function walkMinioJava(account: Account): Promise<Walked> {
  const source = fileURLToPath(new URL('MinioAdminCalls.java', import.meta.url));
  const { code, stdout, stderr } = await runCommand(
    'java',
    ['-cp', `${tool('minio-java-8.6.0', 'minio-java')}/*`, source],
    {
      input: JSON.stringify(sent(account)),
      timeoutMs: 240_000,
    },
  );
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Walked;
}

const policy = {
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Action: ['s3:GetObject'], Resource: ['arn:aws:s3:::madmin/*'] }],
};
const expire = `expire:
  apiVersion: v1
  bucket: madmin
  rules:
    - type: object
      name: none*
      olderThan: 1h
      purge:
        retainVersions: 0
`;

/** Runs each command of stock `mc`. */
export async function walkMc(folder: string, account: Account, target: Account): Promise<Walked> {
  const place = join(folder, new URL(account.url).port);
  await mkdir(place);
  await writeFile(join(place, 'policy.json'), JSON.stringify(policy));
  await writeFile(join(place, 'expire.yaml'), expire);
  const proxy = await startRecordingProxy(account.url);
  const mc = new StockMc(place);
  await mc.alias('ALIAS', proxy.url, account.accessKey, account.secretKey);
  proxy.take();
  const withKeys = target.url.replace('http://', `http://${target.accessKey}:${target.secretKey}@`);
  const results: Result[] = [];
  for (const call of mcCommands) {
    const words = call.split(' ').map((word) =>
      word
        .replace('FOLDER', place)
        .replace('OTHERWITHKEYS', withKeys)
        .replace('OTHER', target.url)
        .replace(/^KEY$/, target.accessKey)
        .replace(/^SECRET$/, target.secretKey),
    );
    const { code, lines, text } = await mc.try(...words);
    const requests = [...new Set(proxy.take())].filter((one) => /\/minio\/(?:admin|kms)\//.test(one));
    results.push({ call, end: code === 0 ? 'done' : codeOf(lines, text), answer: lines, requests });
  }
  proxy.stop();
  return { methods: [], results };
}

function codeOf(lines: readonly Readonly<Record<string, unknown>>[], text: string): string {
  const [, code] = /"Code":"([^"]+)"/.exec(JSON.stringify(lines).replaceAll(/\s/g, '')) ?? [];
  return code ?? `error: ${text.split('\n').slice(1).join(' ').slice(0, 200)}`;
}
