import { afterAll, beforeAll, expect, it } from 'vitest';
import { sharedServer } from '../support/server/shared-server.ts';
import { ClientDriver } from './client-driver.ts';

const cli = new ClientDriver();

beforeAll(async () => {
  const server = await sharedServer();
  await cli.start(() => Promise.resolve({ ...server, url: server.s3, stop: () => Promise.resolve() }));
});
afterAll(() => cli.stop());

const definition = `expire:
  apiVersion: v1
  bucket: batch-list
  rules:
    - type: object
      name: "*.log"
`;

interface Listed {
  readonly jobs: readonly { readonly id: string }[];
  readonly ended: readonly { readonly id: string; readonly type: string; readonly objects: number }[];
}

async function listed(...more: readonly string[]): Promise<Listed> {
  const [list] = await cli.json('batch', 'list', 's', ...more);
  return list as unknown as Listed;
}

it('batch list shows the jobs that ended beside those that run', async () => {
  await cli.run('mb', 's/batch-list');
  const file = await cli.file('job.yaml', definition);
  const [started] = await cli.json('batch', 'start', 's', file);
  const { id } = (started as { readonly result: { readonly id: string } }).result;
  const ended = async () => (await listed()).ended.find((job) => job.id === id);
  await expect.poll(ended, { timeout: 180_000, interval: 200 }).toMatchObject({ type: 'expire', objects: 0 });
  expect((await listed()).jobs.map((job) => job.id)).not.toContain(id);
  expect((await listed('--type', 'keyrotate')).ended).toEqual([]);
  const lines = (await cli.run('batch', 'list', 's')).split('\n');
  expect(lines.find((line) => line.startsWith(id))).toMatch(/ expire .* complete *$/);
}, 240_000);
