import { ask, askWell } from '../generator/ask.ts';
import type { RingRequest } from '../generator/request-ring.ts';
import { bucket, type Load, type Round } from './load.ts';
import { Objects, sendAll, bodiesOf, writeOver } from './objects.ts';

const inFolder = 1_000;
const prefix = 'list';

/** 100,000 objects in 100 folders. A folder is one full page. */
function folders(round: Round): number {
  return round.quick ? 10 : 100;
}

/** The query for one folder of a thousand keys, encoded and sorted as signatures require. */
function listFolder(folder: number): RingRequest {
  return list(`${prefix}/${String(folder).padStart(4, '0')}/`);
}

function list(under: string): RingRequest {
  return {
    method: 'GET',
    path: `/${bucket}`,
    query: `delimiter=%2F&list-type=2&prefix=${encodeURIComponent(under)}`,
    length: 0,
  };
}

async function fill(round: Round): Promise<void> {
  const objects = new Objects(prefix, folders(round) * inFolder, bodiesOf(256));
  const last = await ask(round.endpoint, objects.head(objects.count - 1));
  if (last.status === 200) return;
  await sendAll(
    round.endpoint,
    objects.all((number) => objects.put(number)),
  );
}

/** Throws when a listing has another number of entries. */
async function expectEntries(round: Round, request: RingRequest, element: string, expected: number): Promise<void> {
  const { body } = await askWell(round.endpoint, request);
  const entries = body.toString('latin1').split(`<${element}>`).length - 1;
  if (entries !== expected) {
    throw new Error(`${request.path}?${request.query} lists ${entries} <${element}>, not ${expected}`);
  }
}

const nothing = (): Promise<void> => Promise.resolve();

/** Lists a page of 1,000 keys with a delimiter, in a bucket of at least 100,000 objects. */
const listKeys: Load = {
  name: 'list',
  help: 'LIST with delimiter of one folder of 1,000 objects, of 100 folders in turn',
  async prepare(round) {
    await fill(round);
    await expectEntries(round, listFolder(0), 'Contents', inFolder);
    const requests = Array.from({ length: folders(round) }, (_, folder) => listFolder(folder));
    return { requests, repeat: true, verify: nothing, clear: nothing };
  },
};

/** Lists the 100 folders. The server should skip the thousand objects of each. */
const listFolders: Load = {
  name: 'list-folders',
  help: 'LIST with delimiter above 100,000 objects: 100 common prefixes',
  async prepare(round) {
    await fill(round);
    await expectEntries(round, list(`${prefix}/`), 'CommonPrefixes', folders(round));
    return { requests: [list(`${prefix}/`)], repeat: true, verify: nothing, clear: nothing };
  },
};

const versionsOfKey = 2;

function listVersionsOf(folder: number): RingRequest {
  const query = `delimiter=%2F&prefix=${encodeURIComponent(`versions-${folder}/0000/`)}&versions=`;
  return { method: 'GET', path: `/${bucket}`, query, length: 0 };
}

/** Lists a page of 1,000 versions: 500 keys with two of each, in a bucket with versions. */
const listVersions: Load = {
  name: 'list-versions',
  help: 'LIST of the 1,000 versions of one folder, of 100 folders in turn; with --versioned',
  async prepare(round) {
    const keys = inFolder / versionsOfKey;
    for (let folder = 0; folder < folders(round); folder += 1) {
      const objects = new Objects(`versions-${folder}`, keys, bodiesOf(256));
      const last = await ask(round.endpoint, objects.head(objects.count - 1));
      if (last.status === 200) continue;
      await writeOver(round.endpoint, objects, keys * versionsOfKey, 32);
    }
    await expectEntries(round, listVersionsOf(0), 'Version', inFolder);
    const requests = Array.from({ length: folders(round) }, (_, folder) => listVersionsOf(folder));
    return { requests, repeat: true, verify: nothing, clear: nothing };
  },
};

export const listLoads: readonly Load[] = [listKeys, listFolders, listVersions];
