import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { coalesce } from './coalesce.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('notifies at once, and once for all calls of the time that follows', () => {
  const notify = vi.fn();
  const { call } = coalesce(notify, 100);
  call();
  expect(notify).toHaveBeenCalledTimes(1);
  call();
  call();
  expect(notify).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(100);
  expect(notify).toHaveBeenCalledTimes(2);
});

it('notifies at once again after a pause', () => {
  const notify = vi.fn();
  const { call } = coalesce(notify, 100);
  call();
  vi.advanceTimersByTime(100);
  expect(notify).toHaveBeenCalledTimes(1);
  call();
  expect(notify).toHaveBeenCalledTimes(2);
});

it('keeps its distance after a late notification too', () => {
  const notify = vi.fn();
  const { call } = coalesce(notify, 100);
  call();
  call();
  vi.advanceTimersByTime(100);
  call();
  expect(notify).toHaveBeenCalledTimes(2);
  vi.advanceTimersByTime(100);
  expect(notify).toHaveBeenCalledTimes(3);
});

it('notifies no more after it was stopped', () => {
  const notify = vi.fn();
  const { call, stop } = coalesce(notify, 100);
  call();
  call();
  stop();
  vi.advanceTimersByTime(100);
  expect([notify.mock.calls.length, vi.getTimerCount()]).toEqual([1, 0]);
});
