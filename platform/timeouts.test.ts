import { expect, it } from 'vitest';
import { timeoutSignal, timeoutText } from './timeouts.ts';

it.each([
  [1, '1 ms'],
  [999, '999 ms'],
  [1_000, '1 s'],
  [1_500, '1.5 s'],
  [30_000, '30 s'],
])('writes %d milliseconds as %s', (ms, text) => {
  expect(timeoutText(ms)).toBe(text);
});

it('aborts with an error that names the time', async () => {
  const signal = timeoutSignal(10);
  await new Promise((resolve) => {
    signal.addEventListener('abort', resolve);
  });
  expect(signal.reason).toMatchObject({ name: 'TimeoutError', message: 'it did not answer within 10 ms' });
});
