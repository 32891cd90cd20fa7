import { expect, it } from 'vitest';
import { timeoutSignal } from './timeout-signal.ts';

it('aborts with an error that names the time', async () => {
  const signal = timeoutSignal(10);
  await new Promise((resolve) => {
    signal.addEventListener('abort', resolve);
  });
  expect(signal.reason).toMatchObject({ name: 'TimeoutError', message: 'it did not answer within 10 ms' });
});
