import { ProgramError } from '../../../platform/program-error.ts';
import { describe, expect, it } from 'vitest';
import { describeAddress, parsePostgresAddress, tlsOptions } from './address.ts';

describe('the address of PostgreSQL', () => {
  it('names host, port, user and database', () => {
    expect(parsePostgresAddress('postgres://me@db.example:5433/records')).toEqual({
      host: 'db.example',
      port: 5433,
      user: 'me',
      database: 'records',
      applicationName: 'coffer',
      tls: { kind: 'off' },
      trustFsyncOff: false,
    });
  });

  it('has port 5432 where it names none, and may name the folder of a socket', () => {
    expect(parsePostgresAddress('postgresql://me@localhost/d?host=/run/postgresql')).toMatchObject({
      host: '/run/postgresql',
      port: 5432,
    });
  });

  it.each([
    ['mysql://me@db/d', /not of the form/u],
    ['me@db', /not of the form/u],
    ['postgres://db/d', /names no user/u],
    ['postgres://me@db/', /no database/u],
    ['postgres://me@db/d?sslmode=prefer', /let an attacker/u],
    ['postgres://me@db/d?sslmode=verify-ca', /needs sslrootcert/u],
    ['postgres://me@db/d?search_path=x', /has an option "search_path"/u],
    ['postgres://me:secret@db/d', /holds a password/u],
  ])('is refused as %s', (url, message) => {
    const parse = () => parsePostgresAddress(url);
    expect(parse).toThrow(ProgramError);
    expect(parse).toThrow(message);
    expect(parse).not.toThrow(/secret/u);
  });

  it('verifies the chain and the name by verify-full, which a root certificate alone means too', () => {
    const { tls } = parsePostgresAddress('postgres://me@db/d?sslrootcert=/ca.pem');
    expect(tls).toEqual({ kind: 'verify-full', rootCert: '/ca.pem' });
    const options = tlsOptions({ kind: 'verify-full' });
    expect(options).toEqual({ rejectUnauthorized: true });
  });

  it('verifies nothing by require, as libpq does', () => {
    expect(tlsOptions({ kind: 'require' })).toMatchObject({ rejectUnauthorized: false });
  });

  it('is shown without its user and options', () => {
    expect(describeAddress(parsePostgresAddress('postgres://me@db/d?sslmode=require'))).toBe('PostgreSQL at db:5432/d');
  });
});
