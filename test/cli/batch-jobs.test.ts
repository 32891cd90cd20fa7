import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { runCoffer } from '../support/server/run-coffer.ts';
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

it('batch list shows the jobs that ended and those that run', async () => {
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

const job = { id: 'job-1', type: 'expire', started: '2027-01-01T00:00:00Z' };

/** Runs `batch list` against a server on which one job runs, and which answers this to the question for those that ended. */
async function listedBy(status: number, answer: object) {
  const server = createServer((request, response) => {
    const isOfEnded = request.url?.startsWith('/minio/admin/coffer/') === true;
    response.writeHead(isOfEnded ? status : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isOfEnded ? answer : { jobs: [job] }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const host = `http://access:secret-key@127.0.0.1:${(server.address() as AddressInfo).port}`;
  const args = ['--config-dir', cli.path('none'), '--json', 'batch', 'list', 'other'];
  const { code, stdout, stderr } = await runCoffer(args, { env: { MC_HOST_other: host } });
  const [first = '{}', ...rest] = stdout.toString('utf8').trim().split('\n');
  return { code, list: JSON.parse(first) as unknown, rest: `${rest.join()}${stderr}` };
}

it.each([404, 426])('batch list shows what runs on a MinIO, which answers %s for the others', async (status) => {
  const { code, list } = await listedBy(status, { Code: 'XMinioAdminVersionMismatch', Message: 'unknown' });
  expect(code).toBe(0);
  expect(list).toMatchObject({ jobs: [job] });
  expect(list).not.toHaveProperty('ended');
});

it('batch list shows what runs, and fails where a Coffer refuses to list what ended', async () => {
  const { code, list, rest } = await listedBy(403, { Code: 'AccessDenied', Message: 'not you' });
  expect(list).toMatchObject({ jobs: [job] });
  expect(rest).toContain('not you');
  expect(code).toBe(1);
});

it('batch list shows a job that ended between both questions once', async () => {
  const ended = { ...job, ended: '2027-01-01T00:00:01Z', failed: 0 };
  const { list } = await listedBy(200, { jobs: [ended] });
  expect(list).toMatchObject({ jobs: [], ended: [ended] });
});
