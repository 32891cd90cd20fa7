import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCoffer, type CofferResult } from '../support/server/run-coffer.ts';
import { startTenant } from '../support/server/start-tenant.ts';

let tenant: Awaited<ReturnType<typeof startTenant>>;
let folder: string;

async function attempt(args: readonly string[], input?: string): Promise<CofferResult> {
  const options = input === undefined ? {} : { input };
  return runCoffer(['--config-dir', join(folder, 'config'), ...args], options);
}

async function coffer(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await attempt(args);
  expect({ code, stderr }, `coffer ${args.join(' ')}\n${stdout.toString()}`).toEqual({ code: 0, stderr: '' });
  return stdout.toString('utf8');
}

async function json(...args: string[]): Promise<Record<string, unknown>[]> {
  const lines = (await coffer('--json', ...args)).split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

async function usage(key: string): Promise<Record<string, unknown> | undefined> {
  return (await json('admin', 'kms', 'key', 'usage', 's')).find((one) => one['keyId'] === key);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-keys-'));
  tenant = await startTenant({ defaultKey: 'some-key' });
  const { s3, root } = tenant;
  await attempt(['alias', 'set', 's', s3, root.accessKeyId, root.secretAccessKey]);
});

afterAll(async () => {
  await tenant?.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('coffer admin kms key', () => {
  it('creates a key in the words of the specification, and once only', async () => {
    expect(await coffer('admin', 'kms', 'key', 'create', 's', 'my-key')).toContain(
      'Created master key `my-key` successfully.',
    );
    const { code, stderr } = await attempt(['admin', 'kms', 'key', 'create', 's', 'my-key']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('exists already')]);
  });

  it('says whether a key works, the default one where none is named', async () => {
    expect(await json('admin', 'kms', 'key', 'status', 's', 'my-key')).toEqual([
      { status: 'success', keyId: 'my-key' },
    ]);
    expect(await coffer('admin', 'kms', 'key', 'status', 's')).toBe(
      'Key: some-key\n   - Encryption ✔\n   - Decryption ✔\n',
    );
    const { code, stdout } = await attempt(['admin', 'kms', 'key', 'status', 's', 'not-there']);
    expect([code, stdout.toString()]).toEqual([1, expect.stringMatching(/Encryption ✘ \(.+\)/)]);
  });

  it('lists keys by a pattern', async () => {
    expect(await json('admin', 'kms', 'key', 'list', 's', 'my-*')).toEqual([
      { status: 'success', target: 's', keys: ['my-key'] },
    ]);
    expect(await coffer('admin', 'kms', 'key', 'ls', 's')).toMatch(/some-key/);
  });

  it('shows what each key is used for as a table', async () => {
    expect(await coffer('admin', 'kms', 'key', 'usage', 's')).toMatch(/^KEY +OBJECTS .+\nsome-key +\d+ /m);
  });

  it('reads the bytes of a key to import from standard input, and says what the key service must allow for it', async () => {
    const bytes = randomBytes(32).toString('base64');
    const rejected = await attempt(['admin', 'kms', 'key', 'import', 's', 'brought'], `${bytes}\n`);
    // The operator gives a tenant the nine paths of the specification.
    expect([rejected.code, rejected.stderr]).toEqual([1, expect.stringContaining('allow /v1/key/import/brought')]);
    const wrong = await attempt(['admin', 'kms', 'key', 'import', 's', 'brought'], 'short\n');
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('it is 32 bytes in base64')]);
    expect(wrong.stderr).not.toContain('short');
  });

  it('gives objects another key, counts them by key, and removes none that is needed', async () => {
    await coffer('admin', 'kms', 'key', 'create', 's', 'next-key');
    await coffer('mb', 's/bucket');
    await coffer('encrypt', 'set', 'sse-kms', 'my-key', 's/bucket');
    await writeFile(join(folder, 'file'), 'content');
    await coffer('cp', join(folder, 'file'), 's/bucket/file');
    expect(await usage('my-key')).toMatchObject({ objects: 1 });
    const used = await attempt(['admin', 'kms', 'key', 'remove', 's', 'my-key']);
    expect([used.code, used.stderr]).toEqual([1, expect.stringContaining('my-key')]);

    await coffer('encrypt', 'set', 'sse-kms', 'next-key', 's/bucket');
    const said = await coffer('admin', 'kms', 'key', 'rotate', 's', 'my-key', '--to', 'next-key', '--wait');
    expect(said).toMatch(/Objects get next-key instead of my-key: done; .* 1 changed, 0 failed\./);
    expect(await usage('next-key')).toMatchObject({ objects: 1 });
    expect(await coffer('cat', 's/bucket/file')).toBe('content');
    expect(await coffer('admin', 'kms', 'key', 'rotate', 's')).toMatch(/done/);
  }, 360_000);

  it('says what the key service must allow for a new version, and how it goes without', async () => {
    const { code, stderr } = await attempt(['admin', 'kms', 'key', 'rotate', 's', 'next-key']);
    // The operator gives a tenant the nine paths of the specification.
    expect([code, stderr]).toEqual([1, expect.stringMatching(/allow \/v1\/key\/rotate\/next-key .*--newest/)]);
    expect(await coffer('admin', 'kms', 'key', 'rotate', 's', 'next-key', '--newest', '--wait')).toMatch(
      /Objects get the newest version of next-key: done; .* 1 changed, 0 failed\./,
    );
    expect(await coffer('cat', 's/bucket/file')).toBe('content');
  }, 360_000);

  it('takes the name again before anything is lost', async () => {
    const { code, stderr } = await attempt(['admin', 'kms', 'key', 'remove', 's', 'next-key', '--force', 'yes']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('the name of the key again: `next-key`')]);
  });
});
