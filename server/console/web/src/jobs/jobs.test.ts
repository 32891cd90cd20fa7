import { expect, it } from 'vitest';
import { Jobs } from './jobs.ts';

it('counts what is done and keeps what failed', async () => {
  const jobs = new Jobs();
  const job = await jobs.run('Move', (context) => {
    context.total(2);
    context.done();
    context.failed('b', new Error('no'));
    return Promise.resolve();
  });
  expect(job).toMatchObject({ done: 1, total: 2, failures: 1, failed: [{ key: 'b', message: 'no' }], state: 'done' });
});

it('reports a failure of the whole work', async () => {
  const job = await new Jobs().run('Move', () => Promise.reject(new Error('the folder cannot be listed')));
  expect(job).toMatchObject({ failures: 1, failed: [{ key: '', message: 'the folder cannot be listed' }] });
});

it('stops, and says so', async () => {
  const jobs = new Jobs();
  const ended = jobs.run('Move', ({ signal }) => {
    const { promise, reject } = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => reject(new Error('aborted')));
    return promise;
  });
  jobs.stop(jobs.list()[0]!.id);
  expect(await ended).toMatchObject({ state: 'stopped', failures: 0 });
});
