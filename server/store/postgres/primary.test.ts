import { DatabaseError } from 'pg';
import { describe, expect, it, vi } from 'vitest';
import { StoreError } from '../store-error.ts';
import { parsePostgresAddress } from './address.ts';
import { NewestPrimary, WritingHost } from './primary.ts';

const address = parsePostgresAddress('postgres://me@a,b:5433/d?target_session_attrs=read-write');
const standby = () => new StoreError('unreachable', 'it is a standby');

describe('the host of an address that writes', () => {
  it('is the first one that takes a session, and is asked first from then on', async () => {
    const asked: string[] = [];
    const hosts = new WritingHost();
    const open = () =>
      hosts.open(address, ({ host, port }) => {
        asked.push(`${host}:${port}`);
        return host === 'a' ? Promise.reject(standby()) : Promise.resolve(host);
      });
    expect([await open(), await open()]).toEqual(['b', 'b']);
    expect(asked).toEqual(['a:5432', 'b:5433', 'b:5433']);
  });

  it('is none with the reason of each', async () => {
    const failed = new WritingHost().open(address, ({ host }) =>
      Promise.reject(host === 'a' ? standby() : new Error('connect ECONNREFUSED')),
    );
    await expect(failed).rejects.toThrow(
      'no host of the address takes writes: it is a standby; PostgreSQL at b:5433/d cannot be reached: connect ECONNREFUSED',
    );
  });

  it('is not searched for where one refuses the password', async () => {
    const refusal = Object.assign(new DatabaseError('password authentication failed', 0, 'error'), { code: '28P01' });
    const attempt = vi.fn(() => Promise.reject(refusal));
    await expect(new WritingHost().open(address, attempt)).rejects.toBe(refusal);
    expect(attempt).toHaveBeenCalledTimes(1);
  });
});

const session = (timeline: number, system = 's') => ({
  primary: { system, timeline },
  connection: { close: vi.fn() },
});

describe('the newest primary', () => {
  it('takes the sessions of the one before it away', () => {
    const newest = new NewestPrimary();
    const [old, other] = [session(1), session(2)];
    newest.admit(old, [], 'here');
    newest.admit(other, [old], 'here');
    expect([old.connection.close.mock.calls.length, other.connection.close.mock.calls.length]).toEqual([1, 0]);
  });

  it('lets no session to an old one in, which came back', () => {
    const newest = new NewestPrimary();
    newest.admit(session(2), [], 'here');
    expect(() => newest.admit(session(1), [], 'PostgreSQL at a:5432/d')).toThrow(
      'PostgreSQL at a:5432/d is an old primary: it has timeline 1, and another one was promoted to 2.',
    );
  });

  it('is one of another system after a restore', () => {
    const newest = new NewestPrimary();
    newest.admit(session(5), [], 'here');
    expect(() => newest.admit(session(1, 'restored'), [], 'here')).not.toThrow();
  });

  it('does not matter where the database does not say it', () => {
    expect(() => new NewestPrimary().admit({ connection: { close: vi.fn() } }, [], 'here')).not.toThrow();
  });
});
