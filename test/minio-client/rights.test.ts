import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer, untilReady, type RunningServer } from '../support/server/start-server.ts';
import { adminCall } from './admin-client.ts';
import { StockMc } from './stock-mc.ts';

let folder: string;
let mc: StockMc;
let coffer: RunningServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-rights-'));
  mc = new StockMc(folder);
  coffer = await startServer();
  await untilReady(coffer);
  await mc.alias('root', coffer.s3, coffer.accessKey, coffer.secretKey);
  await mc.run('mb', 'root/open', 'root/closed');
  await writeFile(join(folder, 'file'), 'content');
  await mc.run('cp', join(folder, 'file'), 'root/open/file');
}, 360_000);

afterAll(async () => {
  await coffer?.stop();
  await rm(folder, { recursive: true, force: true });
});

const may = async (...args: readonly string[]) => (await mc.try(...args)).code === 0;
const policyFile = async (name: string, ...statements: object[]) => {
  const file = join(folder, `${name}.json`);
  await writeFile(file, JSON.stringify({ Version: '2012-10-17', Statement: statements }));
  return file;
};

describe('what mc sets', { timeout: 360_000 }, () => {
  it('holds from the next request on, for users, groups, and their keys', async () => {
    await mc.run('admin', 'user', 'add', 'root', 'ann', 'ann-password');
    await mc.alias('ann', coffer.s3, 'ann', 'ann-password');
    expect(await may('cat', 'ann/open/file')).toBe(false);

    const statement = { Effect: 'Allow', Action: ['s3:GetObject'], Resource: ['arn:aws:s3:::open/*'] };
    await mc.run('admin', 'policy', 'create', 'root', 'reading', await policyFile('reading', statement));
    await mc.run('admin', 'group', 'add', 'root', 'readers', 'ann');
    await mc.run('admin', 'policy', 'attach', 'root', 'reading', '--group', 'readers');
    expect(await may('cat', 'ann/open/file')).toBe(true);
    expect(await may('cp', join(folder, 'file'), 'ann/open/other')).toBe(false);

    await mc.run('admin', 'accesskey', 'create', 'ann', '--access-key', 'robot', '--secret-key', 'robot-password');
    await mc.alias('robot', coffer.s3, 'robot', 'robot-password');
    expect(await may('cat', 'robot/open/file')).toBe(true);

    await mc.run('admin', 'group', 'disable', 'root', 'readers');
    expect(await may('cat', 'robot/open/file')).toBe(false);
    await mc.run('admin', 'group', 'enable', 'root', 'readers');

    await mc.run('admin', 'user', 'disable', 'root', 'ann');
    expect(await may('cat', 'ann/open/file')).toBe(false);
    expect(await may('cat', 'robot/open/file')).toBe(false);
    await mc.run('admin', 'user', 'enable', 'root', 'ann');
    expect(await may('cat', 'robot/open/file')).toBe(true);

    await mc.run('admin', 'user', 'rm', 'root', 'ann');
    expect(await may('cat', 'robot/open/file')).toBe(false);
  });

  it('is explained by the call of our own', async () => {
    await mc.run('admin', 'user', 'add', 'root', 'bob', 'bob-password');
    const statement = {
      Sid: 'OnlyHere',
      Effect: 'Allow',
      Action: ['s3:GetObject'],
      Resource: ['arn:aws:s3:::open/*'],
      Condition: { IpAddress: { 'aws:SourceIp': ['192.0.2.0/24'] } },
    };
    await mc.run('admin', 'policy', 'create', 'root', 'here', await policyFile('here', statement));
    await mc.run('admin', 'policy', 'attach', 'root', 'here', '--user', 'bob');
    const root = { url: coffer.s3, accessKey: coffer.accessKey, secretKey: coffer.secretKey };
    const asked = { user: 'bob', action: 's3:GetObject', resource: 'open/file' };
    const explain = (context: object) =>
      adminCall(root, 'POST', '/minio/admin/coffer/v1/explain', { plain: JSON.stringify({ ...asked, context }) });
    expect(await explain({ 'aws:SourceIp': '192.0.2.7' })).toMatchObject({ status: 200, value: { effect: 'allow' } });
    expect(await explain({ 'aws:SourceIp': '127.0.0.1' })).toMatchObject({
      value: {
        effect: 'deny',
        policies: [
          { statements: [{ statement: 'OnlyHere', mismatch: { key: 'aws:SourceIp', actual: ['127.0.0.1'] } }] },
        ],
      },
    });
  });

  it('is listed for clients of two ages, each in its own form', async () => {
    const [url, accessKey, secretKey] = [coffer.s3, 'bob', 'bob-password'];
    await mc.alias('bob', url, accessKey, secretKey);
    await mc.run('admin', 'accesskey', 'create', 'bob', '--access-key', 'bobs-key', '--secret-key', 'bobs-password');
    const list = (userAgent: string) =>
      adminCall({ url, accessKey, secretKey, userAgent }, 'GET', 'list-service-accounts?user=bob');
    expect((await list('MinIO (linux; amd64) madmin-go/2.0.0 mc/RELEASE.2023-04-12T02-21-51Z')).value).toEqual({
      accounts: ['bobs-key'],
    });
    expect((await list('MinIO (linux; amd64) madmin-go/3.0.70 mc/x')).value).toMatchObject({
      accounts: [{ accessKey: 'bobs-key', parentUser: 'bob' }],
    });
  });

  it('leaves no secret in the log', () => {
    const log = coffer.log.join('\n');
    for (const secret of ['ann-password', 'robot-password', 'bob-password', 'bobs-password', coffer.secretKey]) {
      expect(log).not.toContain(secret);
    }
  });
});
