import { describe, expect, it, vi } from 'vitest';
import { NewestPrimary, newestPrimaryMemory } from './newest-primary.ts';

const session = (timeline: number, system = '7430000000000000001') => ({
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
    expect(() => newest.admit(session(1, '7430000000000000002'), [], 'here')).not.toThrow();
  });

  it('is shared by threads: one closes its sessions when another one has seen a newer primary', () => {
    const memory = newestPrimaryMemory();
    const [one, other] = [new NewestPrimary(memory), new NewestPrimary(memory)];
    const reader = session(1);
    one.admit(reader, [], 'here');
    one.closeOld([reader]);
    expect(reader.connection.close).not.toHaveBeenCalled();
    other.admit(session(2), [], 'here');
    one.closeOld([reader]);
    expect(reader.connection.close).toHaveBeenCalledTimes(1);
  });

  it('does not matter where the database does not say it', () => {
    expect(() => new NewestPrimary().admit({ connection: { close: vi.fn() } }, [], 'here')).not.toThrow();
  });
});
