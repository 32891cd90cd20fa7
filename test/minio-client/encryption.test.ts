import { createHash, randomBytes } from 'node:crypto';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEncryptingServer, type EncryptingServer } from '../support/server/start-encrypting-server.ts';
import { StockMc } from './stock-mc.ts';

let running: EncryptingServer;
let mc: StockMc;
const file = (name: string) => join(running.folder, name);
const mine = randomBytes(32).toString('hex');
const other = randomBytes(32).toString('hex');
const text = 'for my eyes only';
const large = randomBytes(70 * 2 ** 20);

/** What `mc` is told of keys: for names that begin so, this one. */
const encC = (where: string, key = mine) => ['--enc-c', `${where}=${key}`];
const encKms = (where: string, key: string) => ['--enc-kms', `${where}=${key}`];

beforeAll(async () => {
  running = await startEncryptingServer();
  const authorities = join(running.folder, 'mc', 'certs', 'CAs');
  await mkdir(authorities, { recursive: true });
  await copyFile(running.caFile, join(authorities, 'ca.crt'));
  mc = new StockMc(running.folder);
  const { s3, accessKey, secretKey } = running.server;
  await mc.alias('s', s3, accessKey, secretKey);
  await mc.run('admin', 'kms', 'key', 'create', 's', 'team-key');
  await mc.run('mb', 's/sealed');
  await writeFile(file('text'), text);
  await writeFile(file('large'), large);
}, 360_000);
afterAll(() => running.stop());

const metadata = async (...args: string[]) => {
  const [stat] = await mc.run('stat', ...args);
  return stat?.['metadata'] as Record<string, string>;
};
/** The bytes of an object, by way of a file. */
async function content(target: string, ...args: string[]): Promise<Buffer> {
  await mc.run('cp', '--quiet', ...args, target, file('back'));
  return readFile(file('back'));
}
const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe("stock mc with a client's key", { timeout: 360_000 }, () => {
  it('puts an object, tells how it is encrypted, and gets it back', async () => {
    await mc.run('cp', ...encC('s/sealed/c'), file('text'), 's/sealed/c/text');
    expect(await metadata(...encC('s/sealed/c'), 's/sealed/c/text')).toMatchObject({
      'X-Amz-Server-Side-Encryption-Customer-Algorithm': 'AES256',
    });
    expect((await content('s/sealed/c/text', ...encC('s/sealed/c'))).toString()).toBe(text);
  });

  it('takes its key in base64 too', async () => {
    const base64 = Buffer.from(mine, 'hex').toString('base64').replaceAll('=', '');
    expect((await mc.try('cat', ...encC('s/sealed/c', base64), 's/sealed/c/text')).text).toContain(text);
  });

  it('prints it, whole and from a place on', async () => {
    expect((await mc.try('cat', ...encC('s/sealed/c'), 's/sealed/c/text')).text).toContain(text);
    const rest = await mc.try('cat', '--offset', '4', ...encC('s/sealed/c'), 's/sealed/c/text');
    expect(rest.text).toContain(text.slice(4));
    expect(rest.text).not.toContain(text);
    expect((await mc.try('head', '-n', '1', ...encC('s/sealed/c'), 's/sealed/c/text')).text).toContain(text);
  });

  it.each([
    ['no key', []],
    ['another key', ['--enc-c', `s/sealed/c=${other}`]],
  ])('is refused with %s, and shown nothing', async (_what, flags) => {
    for (const command of ['cat', 'stat']) {
      const reply = await mc.try(command, ...flags, 's/sealed/c/text');
      expect([command, reply.code, reply.text.includes(text)], reply.text).toEqual([command, 1, false]);
    }
    const reply = await mc.try('cp', ...flags, 's/sealed/c/text', file('never'));
    expect(reply.code, reply.text).toBe(1);
  });

  it('puts 70 MiB by multipart and gets them back, whole', async () => {
    await mc.run('cp', '--quiet', ...encC('s/sealed/c'), file('large'), 's/sealed/c/large');
    expect(hash(await content('s/sealed/c/large', ...encC('s/sealed/c')))).toBe(hash(large));
  });

  it('lists it without the key', async () => {
    const listed = await mc.run('ls', 's/sealed/c/');
    expect(listed.map(({ key, size }) => [key, size])).toEqual([
      ['large', large.length],
      ['text', text.length],
    ]);
  });
});

describe('stock mc with keys of the key service', { timeout: 360_000 }, () => {
  it.each([
    ['the default key', ['--enc-s3', 's/sealed/s3'], 's/sealed/s3/text', { 'X-Amz-Server-Side-Encryption': 'AES256' }],
    [
      'a key that it names',
      ['--enc-kms', 's/sealed/kms=team-key'],
      's/sealed/kms/text',
      {
        'X-Amz-Server-Side-Encryption': 'aws:kms',
        'X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id': 'arn:aws:kms:team-key',
      },
    ],
  ])('encrypts under %s', async (_what, flags, target, told) => {
    await mc.run('cp', ...flags, file('text'), target);
    expect(await metadata(target)).toMatchObject(told);
    expect((await content(target)).toString()).toBe(text);
  });

  it('puts 70 MiB by multipart and gets them back, whole', async () => {
    await mc.run('cp', '--quiet', ...encKms('s/sealed/kms', 'team-key'), file('large'), 's/sealed/kms/large');
    expect(hash(await content('s/sealed/kms/large'))).toBe(hash(large));
  });

  it('is refused a key that does not exist', async () => {
    const reply = await mc.try('cp', ...encKms('s/sealed/kms', 'no-key'), file('text'), 's/sealed/kms/refused');
    expect([reply.code, reply.text], reply.text).toEqual([1, expect.stringMatching(/keyId|KMS\.NotFound/i)]);
  });

  it('sets, shows and clears the default of a bucket', async () => {
    await mc.run('mb', 's/default');
    await mc.run('encrypt', 'set', 'sse-kms', 'team-key', 's/default');
    expect(await mc.run('encrypt', 'info', 's/default')).toMatchObject([
      { encryption: { algorithm: 'aws:kms', keyId: 'team-key' } },
    ]);
    await mc.run('cp', file('text'), 's/default/kms');
    expect(await metadata('s/default/kms')).toMatchObject({
      'X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id': 'arn:aws:kms:team-key',
    });
    await mc.run('encrypt', 'set', 'sse-s3', 's/default');
    expect(await mc.run('encrypt', 'info', 's/default')).toMatchObject([{ encryption: { algorithm: 'AES256' } }]);
    await mc.run('encrypt', 'clear', 's/default');
    await mc.run('cp', file('text'), 's/default/plain');
    expect((await metadata('s/default/plain'))['X-Amz-Server-Side-Encryption']).toBeUndefined();
  });
});

/** What `mc` is told of keys for each kind, and what an object of that kind says of itself. */
const kinds = {
  plain: { flags: [], says: /^(?!.*Encryption)/ },
  s3: { flags: ['--enc-s3', 's/copies/s3'], says: /AES256/ },
  kms: { flags: ['--enc-kms', 's/copies/kms=team-key'], says: /team-key/ },
  mine: { flags: ['--enc-c', `s/copies/mine=${mine}`], says: /Customer/ },
  other: { flags: ['--enc-c', `s/copies/other=${other}`], says: /Customer/ },
} as const;
type Kind = keyof typeof kinds;

/**
 * What becomes of a copy. Whatever kind is asked for, `mc` sends that of a source which the key service encrypts along; beside another
 * kind that is a contradiction, which MinIO refuses too.
 */
const outcomes: Readonly<Record<Kind, Readonly<Partial<Record<Kind, Kind | 'refused'>>>>> = {
  plain: { s3: 's3', kms: 'kms', mine: 'mine', other: 'other' },
  s3: { plain: 's3', kms: 'refused', mine: 'refused' },
  kms: { plain: 'kms', s3: 'kms', mine: 'refused' },
  mine: { plain: 'plain', s3: 's3', kms: 'kms', other: 'other' },
  other: { plain: 'plain', s3: 's3', kms: 'kms', mine: 'mine' },
};

describe('stock mc copies on the server', { timeout: 360_000 }, () => {
  beforeAll(async () => {
    await mc.run('mb', 's/copies');
    for (const [kind, { flags }] of Object.entries(kinds)) {
      await mc.run('cp', ...flags, file('text'), `s/copies/${kind}/source`);
    }
  }, 180_000);

  const cases = Object.entries(outcomes).flatMap(([from, targets]) =>
    Object.entries(targets).map(([to, becomes]) => [from as Kind, to as Kind, becomes] as const),
  );
  it.each(cases)('from %s to %s, which becomes %s', async (from, to, becomes) => {
    const target = `s/copies/${to}/from-${from}`;
    const flags = [...kinds[from].flags, ...kinds[to].flags];
    const reply = await mc.try('cp', ...flags, `s/copies/${from}/source`, target);
    if (becomes === 'refused') {
      expect([reply.code, reply.text], reply.text).toEqual([1, expect.stringContaining('InvalidArgument')]);
      return;
    }
    expect(reply, reply.text).toMatchObject({ code: 0 });
    const key = to === 'mine' || to === 'other' ? kinds[to].flags : [];
    expect((await content(target, ...key)).toString()).toBe(text);
    expect(JSON.stringify(await metadata(...key, target))).toMatch(kinds[becomes].says);
  });
});
