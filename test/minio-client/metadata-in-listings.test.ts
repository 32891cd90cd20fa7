import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningServer, startServer, untilReady } from '../support/server/start-server.ts';
import { temporaryFolder } from '../support/store/temporary-folder.ts';
import { StockMc } from './stock-mc.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let server: RunningServer;
let mc: StockMc;
beforeAll(async () => {
  folder = await temporaryFolder();
  mc = new StockMc(folder.path);
  server = await startServer();
  await untilReady(server);
  await mc.alias('coffer', server.s3, server.accessKey, server.secretKey);
  await mc.run('mb', 'coffer/listed');
  const file = join(folder.path, 'file');
  await writeFile(file, 'content');
  await mc.run('cp', '--attr', 'Colour=blue', '--tags', 'team=red', file, 'coffer/listed/described');
  await mc.run('cp', file, 'coffer/listed/plain');
});
afterAll(async () => {
  await server.stop();
  await folder.remove();
});

const found = async (...flags: readonly string[]) =>
  (await mc.run('find', 'coffer/listed', ...flags)).map(({ key }) => key);

describe('stock mc', () => {
  it.each([
    ['a value of metadata', ['--metadata', 'Colour=bl.*'], ['coffer/listed/described']],
    ['another value', ['--metadata', 'Colour=red'], []],
    ['a tag', ['--tags', 'team=re[d]'], ['coffer/listed/described']],
    ['no tag', ['--tags', 'team='], ['coffer/listed/plain']],
  ])('finds objects by %s', async (_what, flags, expected) => {
    expect(await found(...flags)).toEqual(expected);
  });

  it('copies nothing again with mirror -a', async () => {
    await mc.run('mb', 'coffer/mirrored');
    const copied = async () =>
      (await mc.run('mirror', '-a', 'coffer/listed', 'coffer/mirrored')).filter(({ source }) => source);
    expect(await copied()).toHaveLength(2);
    expect(await copied()).toEqual([]);
  });
});
