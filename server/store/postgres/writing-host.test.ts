import { DatabaseError } from 'pg';
import { describe, expect, it, vi } from 'vitest';
import { StoreError } from '../store-error.ts';
import { parsePostgresAddress } from '../../../platform/store-address/postgres-address.ts';
import { WritingHost } from './writing-host.ts';

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

  it('is searched for from the next one on after one held commits back, which is taken again where no other writes', async () => {
    const asked: string[] = [];
    const hosts = new WritingHost();
    const open = () =>
      hosts.open(address, ({ host }) => {
        asked.push(host);
        return host === 'a' ? Promise.resolve(host) : Promise.reject(standby());
      });
    await open();
    hosts.distrust();
    await open();
    await open();
    expect(asked).toEqual(['a', 'b', 'a', 'a']);
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
