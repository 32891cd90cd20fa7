import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDatabaseUrl, parseDatabaseUrl } from './database-url.ts';

describe('the address of a database', () => {
  it('may name several hosts, with their ports', () => {
    const parsed = parseDatabaseUrl('postgresql://me:p%40ss@a,b:5433,[::1]:5434/d?target_session_attrs=read-write');
    expect(parsed).toMatchObject({
      user: 'me',
      password: 'p%40ss',
      hosts: [
        { host: 'a', port: 5432 },
        { host: 'b', port: 5433 },
        { host: '::1', port: 5434 },
      ],
      database: 'd',
    });
    expect(parsed && formatDatabaseUrl(parsed)).toBe(
      'postgres://me@a,b:5433,[::1]:5434/d?target_session_attrs=read-write',
    );
  });

  it.each([
    'postgres://me:12?hunter2@db/d',
    'postgres://me:12?a=hunter2@db/d',
    'postgres://me:12/hunter2@db/d',
    'postgres://me:12#hunter2@db/d',
    'postgres://me:p@ss/hunter2@db/d',
    'postgres://me:p@12?hunter2@db/d',
    'postgres://me:p@12#hunter2',
  ])('is none with a raw character in its password: %s', (text) => {
    expect(parseDatabaseUrl(text)).toBeUndefined();
  });

  it('may have an @ in the value of an option', () => {
    expect(parseDatabaseUrl('postgres://me@db/d?sslrootcert=/etc/a@b.pem')?.options.get('sslrootcert')).toBe(
      '/etc/a@b.pem',
    );
  });

  it('keeps no password when it is written, whatever the password is', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 8 }), (rest) => {
        const secret = `hunter2${rest}`;
        const parsed = parseDatabaseUrl(`postgres://me:${secret}@db/d?password=${encodeURIComponent(secret)}`);
        expect(parsed === undefined ? '' : formatDatabaseUrl(parsed)).not.toContain('hunter2');
      }),
    );
  });
});
