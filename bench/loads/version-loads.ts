import { askWell } from '../generator/ask.ts';
import { bucket, type Load } from './load.ts';
import { bodiesOf, Objects, writeOver } from './objects.ts';

const keys = 500;
const nothing = (): Promise<void> => Promise.resolve();

/** Reads noncurrent versions by their ids, in a bucket with versions. */
const getVersion: Load = {
  name: 'get-version',
  help: 'GET of 500 noncurrent versions of 256 bytes by their ids, in turn; with --versioned',
  async prepare(round) {
    const objects = new Objects('versions-by-id', keys, bodiesOf(256));
    const query = `prefix=${encodeURIComponent(`${objects.prefix}/`)}&versions=`;
    const list = async () => {
      const { body } = await askWell(round.endpoint, { method: 'GET', path: `/${bucket}`, query });
      return [...body.toString().matchAll(/<Key>([^<]+)<\/Key><VersionId>([^<]+)<\/VersionId><IsLatest>false</g)];
    };
    if ((await list()).length === 0) await writeOver(round.endpoint, objects, 2 * keys, 32);
    const noncurrent = await list();
    if (noncurrent.length !== keys) throw new Error(`${objects.prefix} has ${noncurrent.length} noncurrent versions`);
    const requests = noncurrent.map(([, key, id]) => ({
      method: 'GET' as const,
      path: `/${bucket}/${key}`,
      query: `versionId=${id}`,
      length: 0,
      answers: 256,
    }));
    return { requests, repeat: true, verify: nothing, clear: nothing };
  },
};

export const versionLoads: readonly Load[] = [getVersion];
