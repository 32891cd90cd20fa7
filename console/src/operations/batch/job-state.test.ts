import { describe, expect, it } from 'vitest';
import { jobStates } from './job-state.ts';

const job = (id: string, minute: number, rest: { ended?: string; failed?: number } = {}) => ({
  id,
  started: `2026-01-01T00:0${minute}:00Z`,
  failed: 0,
  ...rest,
});

describe('the states of batch jobs', () => {
  it('have one job that runs, the oldest that has not ended', () => {
    const jobs = [job('c', 3), job('b', 2), job('a', 1, { ended: '2026-01-01T00:02:00Z' })];
    expect(Object.fromEntries(jobStates(jobs))).toEqual({ a: 'done', b: 'runs', c: 'waits' });
  });

  it('tell of a cancellation, whatever failed before it', () => {
    const cancelled = { ...job('a', 1, { ended: '2026-01-01T00:02:00Z', failed: 2 }), cancelled: true };
    expect(jobStates([cancelled]).get('a')).toBe('cancelled');
  });

  it('tell of failures', () => {
    expect(jobStates([job('a', 1, { ended: '2026-01-01T00:02:00Z', failed: 2 })]).get('a')).toBe('failures');
  });
});
