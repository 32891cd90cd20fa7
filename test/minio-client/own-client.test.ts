import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { followCoffer, runCoffer } from '../support/server/run-coffer.ts';
import { startMinio, type RunningMinio } from '../support/server/start-minio.ts';
import { StockMc } from './stock-mc.ts';

const patience = 240_000;
const reading = {
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Action: ['s3:GetObject'], Resource: ['arn:aws:s3:::b/*'] }],
};

let folder: string;
let mc: StockMc;
/** One for each client, so that both may change it. */
let servers: readonly RunningMinio[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-own-'));
  mc = new StockMc(folder);
  await writeFile(join(folder, 'p.json'), JSON.stringify(reading));
  servers = await Promise.all([startMinio(), startMinio()]);
  const [first, second] = servers;
  if (first === undefined || second === undefined) throw new Error('there are two');
  await mc.alias('m', first.url, first.accessKey, first.secretKey);
  await coffer('alias', 'set', 'm', second.url, second.accessKey, second.secretKey);
}, 360_000);

afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  await rm(folder, { recursive: true, force: true });
});

async function coffer(...args: string[]) {
  const { code, stdout } = await runCoffer(['--config-dir', join(folder, 'config'), '--json', ...args]);
  const lines = stdout
    .toString()
    .split('\n')
    .filter((line) => line !== '');
  return { code, lines: lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

/** Each command by both clients: whatever stock `mc` says in JSON, ours says too. It warns in documents, where `mc` says nothing. */
async function same(...commands: readonly string[]): Promise<void> {
  for (const command of commands) {
    const args = command.replaceAll('FOLDER', folder).split(' ');
    const [theirs, ours] = await Promise.all([mc.try(...args), coffer(...args)]);
    expect(ours.code, `${command}\n${JSON.stringify(ours.lines)}`).toBe(theirs.code);
    const answers = ours.lines.filter(({ status }) => status !== 'warning');
    const [said, known] = [answers.map(plain), theirs.lines.map(plain)];
    expect(inOrder(said), command).toMatchObject(inOrder(known) as object[]);
  }
}

/** Some lists come in the order of a hash map. */
function inOrder(lines: readonly unknown[]): unknown[] {
  return lines.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

function nameOf(line: unknown): string {
  const { policy, accessKey, user } = line as Readonly<Record<string, unknown>>;
  return JSON.stringify([typeof policy === 'string' ? policy : '', accessKey, user]);
}

function asSet(value: unknown): unknown {
  return Array.isArray(value) ? value.map(String).toSorted((a, b) => (a < b ? -1 : 1)) : value;
}

/** Fields that mean nothing there, that we do not repeat, or whose wording is each client's own. */
const leftOut = new Set(['secretKey', 'isGroup', 'message', 'RequestID', 'HostID', 'BucketName', 'Key', 'Region']);

function plain(value: unknown): unknown {
  if (typeof value === 'string') return /^\d{4}-\d\d-\d\dT|^\w{3}, \d\d \w{3} \d{4}/.test(value) ? 'a time' : value;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value)
    .filter(([field]) => !leftOut.has(field))
    // Empty where a policy is made, listed or removed.
    .filter(([field, part]) => !(field === 'policyInfo' && (part as { PolicyName?: string }).PolicyName === ''))
    .filter(([field, part]) => !(field === 'Message' && typeof part === 'string'))
    // A set, which MinIO writes in the order of a hash map.
    .map(([field, part]) => [field, field === 'Action' ? asSet(part) : plain(part)] as const);
  return Object.fromEntries(entries);
}

describe('our client says of a real MinIO what stock mc says', { timeout: patience }, () => {
  it('about users and groups', () =>
    same(
      'admin user add m ann annpassword',
      'admin user add m bob bobpassword',
      'admin group add m staff ann bob',
      'admin user ls m',
      'admin user disable m ann',
      'admin user info m ann',
      'admin user enable m ann',
      'admin user info m nobody',
      'admin group ls m',
      'admin group info m staff',
      'admin group disable m staff',
      'admin group enable m staff',
      'admin group info m nix',
    ));

  it('about policies', () =>
    same(
      'admin policy create m p FOLDER/p.json',
      'admin policy ls m',
      'admin policy info m p',
      'admin policy info m nix',
      'admin policy attach m p readonly --user ann',
      'admin policy attach m p --user ann',
      'admin policy attach m p --group staff',
      'admin policy entities m',
      'admin policy entities m --user ann --group staff',
      'admin user ls m',
      'admin policy detach m p --user ann',
      'admin policy rm m p',
    ));

  it('about access keys', () =>
    same(
      'admin user svcacct add m ann --access-key svcann1 --secret-key svcannsecret --policy FOLDER/p.json',
      'admin user svcacct ls m ann',
      'admin user svcacct info m svcann1',
      'admin user svcacct edit m svcann1 --name n',
      'admin user svcacct disable m svcann1',
      'admin user svcacct enable m svcann1',
      'admin user svcacct rm m svcann1',
      'admin accesskey create m ann --access-key keyann1 --secret-key keyannsecret --name n --expiry-duration 24h',
      'admin accesskey ls m',
      'admin accesskey ls m ann --svcacc-only',
      'admin accesskey info m keyann1',
      'admin accesskey edit m keyann1 --name other',
      'admin accesskey rm m keyann1',
      'admin accesskey rm m keyann1',
    ));

  it('about settings, keys and metrics', () =>
    same(
      'admin config get m site',
      'admin config set m site comment=hello',
      'admin config get m nothing',
      'admin config reset m site',
      'admin kms key status m',
      'admin kms key list m',
      'admin user rm m bob',
    ));

  it('about what is set for buckets', async () => {
    await coffer('mb', 'm/photos', 'm/second');
    const file = join(folder, 'buckets.zip');
    expect((await coffer('admin', 'cluster', 'bucket', 'export', 'm', '--output', file)).lines).toMatchObject([
      { file },
    ]);
    await same(
      'admin cluster bucket import m FOLDER/buckets.zip',
      'admin cluster bucket import m/photos FOLDER/buckets.zip',
    );
  });

  it('about requests as they end', async () => {
    const second = servers[1];
    const { stdout } = await followCoffer(
      ['--config-dir', join(folder, 'config'), '--json', 'admin', 'trace', 'm'],
      async (printed) => {
        if (!printed.includes('\n')) await fetch(`${second?.url}/no-such-bucket/key`);
        return printed.includes('\n');
      },
    );
    expect(JSON.parse(stdout.split('\n')[0] ?? '')).toMatchObject({
      api: 's3.GetObject',
      path: '/no-such-bucket/key',
      statusCode: 403,
      type: 'S3',
    });
  });

  it('about a restart', async () => {
    const { code, lines } = await coffer('admin', 'service', 'restart', 'm');
    expect([code, lines]).toMatchObject([0, [{ serverURL: 'm', result: { action: 'restart', dryRun: false } }]]);
  });
});
