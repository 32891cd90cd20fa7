import { describe, expect, it } from 'vitest';
import { notifyServiceManager } from './service-manager.ts';

function told(environment: Readonly<Record<string, string>>, error: Error | null = null) {
  const calls: string[] = [];
  const failures: string[] = [];
  notifyServiceManager('READY=1', (failure) => failures.push(failure.message), {
    environment,
    run: (program, args, done) => {
      calls.push([program, ...args].join(' '));
      done(error);
    },
  });
  return { calls, failures };
}

describe('the service manager', () => {
  it('is told through systemd-notify', () => {
    const expected = { calls: ['systemd-notify READY=1'], failures: [] };
    expect(told({ NOTIFY_SOCKET: '/run/systemd/notify' })).toEqual(expected);
  });

  it('is not told where there is none', () => {
    expect(told({})).toEqual({ calls: [], failures: [] });
    expect(told({ NOTIFY_SOCKET: '' })).toEqual({ calls: [], failures: [] });
  });

  it('is reported where it cannot be told', () => {
    expect(told({ NOTIFY_SOCKET: '@x' }, new Error('no such program')).failures).toEqual(['no such program']);
  });
});
