import { ProgramError } from '../errors/program-error.ts';
import { describe, expect, it } from 'vitest';
import { describeAddress, parsePostgresAddress } from './postgres-address.ts';

describe('the address of PostgreSQL', () => {
  it('names host, port, user and database', () => {
    const host = { host: 'db.example', port: 5433 };
    expect(parsePostgresAddress('postgres://me@db.example:5433/records')).toEqual({
      ...host,
      hosts: [host],
      user: 'me',
      database: 'records',
      applicationName: 'coffer',
      tls: { kind: 'off' },
      authentication: { methods: ['none', 'password', 'md5', 'scram-sha-256'], channelBinding: 'disable' },
      keepAliveMs: 10_000,
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
    ['postgres://me:1?secret@db/d', /not of the form/u],
    ['postgres://me@db/d?target_session_attrs=standby', /needs the server that writes/u],
    ['postgres://me@db/d?channel_binding=require', /needs TLS/u],
    ['postgres://me@db/d?channel_binding=yes', /another channel_binding than disable, prefer, require/u],
    ['postgres://me@db/d?require_auth=gss', /another require_auth than/u],
    ['postgres://me@db/d?require_auth=md5,!password', /another require_auth than/u],
    ['postgres://me@db/d?connect_timeout=5s', /connect_timeout .* not a number of seconds: 5s/u],
  ])('is refused as %s', (url, message) => {
    const parse = () => parsePostgresAddress(url);
    expect(parse).toThrow(ProgramError);
    expect(parse).toThrow(message);
    expect(parse).not.toThrow(/secret/u);
  });

  it('has the timeouts, proofs and settings of libpq', () => {
    const options = 'connect_timeout=1&keepalives_idle=30&require_auth=!password,!none&options=-c%20search_path%3Dmine';
    expect(parsePostgresAddress(`postgres://me@db/d?${options}`)).toMatchObject({
      connectMs: 2000,
      keepAliveMs: 30_000,
      authentication: { methods: ['md5', 'scram-sha-256'] },
      options: '-c search_path=mine',
    });
    expect(parsePostgresAddress('postgres://me@db/d?keepalives=0&connect_timeout=0')).toMatchObject({
      keepAliveMs: undefined,
    });
  });

  it('is shown with all of its hosts, or with the one that is asked', () => {
    const address = parsePostgresAddress('postgres://me@a,b:5433/d');
    expect(describeAddress(address)).toBe('PostgreSQL at a:5432,b:5433/d');
    expect(describeAddress({ ...address, ...address.hosts[1] })).toBe('PostgreSQL at b:5433/d');
  });

  it('verifies the chain and the name by verify-full, which a root certificate alone means too', () => {
    const { tls } = parsePostgresAddress('postgres://me@db/d?sslrootcert=/ca.pem');
    expect(tls).toEqual({ kind: 'verify-full', rootCert: '/ca.pem' });
  });

  it('is shown without its user and options', () => {
    expect(describeAddress(parsePostgresAddress('postgres://me@db/d?sslmode=require'))).toBe('PostgreSQL at db:5432/d');
  });
});
