import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectionOf } from './postgres-connection.ts';

let folder: string;
let ca: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-pg-'));
  ca = join(folder, 'ca.pem');
  await writeFile(ca, 'AUTHORITY');
});
afterAll(() => rm(folder, { recursive: true }));

const of = (text: string, caFile?: string) => connectionOf(text, caFile);
const account = { host: 'db', port: 5433, user: 'u', password: 'p', database: 'd' };

describe('the connection of a PostgreSQL for events', () => {
  it.each([
    'postgres://u:p@db:5433/d',
    'postgresql://u:p@db:5433/d?sslmode=disable',
    'host=db port=5433 user=u password=p dbname=d',
    " host = 'db' port=5433\tuser='u' password=p dbname=d sslmode=disable ",
  ])('is read from %s', async (text) => {
    expect(await of(text)).toEqual({ ...account, connectionTimeoutMillis: 5_000, ssl: false });
  });

  it('has what is in quotes, behind backslashes and behind percent signs', async () => {
    expect(await of(String.raw`user='a b' password='it\'s \\' options='-c search_path=x,y'`)).toMatchObject({
      user: 'a b',
      password: String.raw`it's \ `.trim(),
      options: '-c search_path=x,y',
    });
    expect(await of('postgres://a%20b:p%40@[::1]/d?options=-c%20x&application_name=n&connect_timeout=2')).toMatchObject(
      {
        user: 'a b',
        password: 'p@',
        host: '::1',
        options: '-c x',
        application_name: 'n',
        connectionTimeoutMillis: 2_000,
      },
    );
    expect(await of('postgres://u@/d?host=/run/postgresql')).toMatchObject({ host: '/run/postgresql' });
  });

  // As conninfo_parse of libpq does.
  it.each([
    ["password=it's user=u", "it's"],
    ["password=its' user=u", "its'"],
    [String.raw`password=it\'s\ \\ user=u`, String.raw`it's \ `.trim()],
    [String.raw`password=its\ `, 'its '],
    ['password= user=u', 'user=u'],
  ])('takes a value without quotes up to the white space: %s', async (text, password) => {
    expect(await of(`host=db ${text}`)).toMatchObject({ host: 'db', password });
  });

  it.each(['host=db connect_timeout=0', 'postgres://db/d?connect_timeout=0'])(
    'limits the time of a connection that has none: %s',
    async (text) => expect(await of(text)).toMatchObject({ connectionTimeoutMillis: 5_000 }),
  );

  it.each(['require', 'verify-full'])('verifies the certificate with sslmode=%s, in both forms', async (mode) => {
    for (const text of [`host=db sslmode=${mode}`, `postgres://db/d?sslmode=${mode}`]) {
      expect((await of(text)).ssl).toEqual({});
      expect((await of(text, ca)).ssl).toEqual({ ca: 'AUTHORITY' });
    }
  });

  it('verifies the authority alone with sslmode=verify-ca', async () => {
    const { ssl } = await of(`host=db sslmode=verify-ca sslrootcert=${ca}`);
    expect(ssl).toEqual({ ca: 'AUTHORITY', checkServerIdentity: expect.any(Function) as unknown });
  });

  it('takes authorities, a certificate and its key from files', async () => {
    expect((await of(`host=db sslrootcert=${ca} sslcert=${ca} sslkey=${ca}`)).ssl).toEqual({
      ca: 'AUTHORITY',
      cert: 'AUTHORITY',
      key: 'AUTHORITY',
    });
    await expect(of(`host=db sslmode=disable`, ca)).rejects.toThrow('sslmode=disable');
  });

  it.each([
    ['host=db sslmod=require', 'has sslmod,'],
    ['postgres://db/d?ssl=true', 'has ssl,'],
    ['host=db sslmode=prefer', 'sslmode=prefer'],
    ['host=db sslmode=required', 'sslmode=required'],
    ['host=db port=x', 'port=x'],
    ["host=db password='open", 'after host'],
    ['host=db pass word', 'after host'],
    ['postgres://u:p%@db/d', 'is not postgres://'],
  ])('%s is refused, and its secret is not shown', async (text, message) => {
    await expect(of(text)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining(message) as string,
    });
    await expect(of(text)).rejects.not.toThrow(/open|\bword\b|p%/);
  });
});
