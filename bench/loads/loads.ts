import { type Load, bucket } from './load.ts';
import { Objects, bodiesOf, type Size, sizes, writtenIn, stampBytes } from './objects.ts';
import type { RingRequest } from '../generator/request-ring.ts';
import { createHash } from 'node:crypto';
import { askWell } from '../generator/ask.ts';
import type { Endpoint } from '../generator/request-signer.ts';
import { listLoads } from './list-loads.ts';
import { versionLoads } from './version-loads.ts';

const nothing = (): Promise<void> => Promise.resolve();

function putLoad(size: Size): Load {
  return {
    name: `put-${size.name}`,
    help: `PUT of new objects of ${size.name}`,
    prepare(round) {
      const count = writtenIn(size, round.seconds);
      const objects = new Objects(`put-${size.name}/${round.id}`, count, bodiesOf(size.bytes));
      return Promise.resolve({
        requests: objects.all((number) => objects.put(number, round.signPayload)),
        repeat: false,
        verify: (done) => objects.verify(round.endpoint, done),
        clear: (done) => objects.clear(round.endpoint, 0, done),
      });
    },
  };
}

function readLoad(method: 'get' | 'head', size: Size): Load {
  return {
    name: `${method}-${size.name}`,
    help: `${method.toUpperCase()} of ${size.read} objects of ${size.name}, in turn`,
    async prepare(round) {
      const objects = new Objects(`reads-${size.name}`, size.read, bodiesOf(size.bytes));
      await objects.fill(round);
      await objects.verify(round.endpoint, objects.count);
      return {
        requests: objects.all((number) => objects[method](number)),
        repeat: true,
        verify: nothing,
        clear: nothing,
      };
    },
  };
}

function deleteLoad(size: Size): Load {
  return {
    name: `delete-${size.name}`,
    help: `DELETE of up to ${size.deleted} objects of ${size.name} written before`,
    async prepare(round) {
      const count = round.quick ? Math.ceil(size.deleted / 4) : size.deleted;
      const objects = new Objects(`delete-${size.name}/${round.id}`, count, bodiesOf(size.bytes));
      await objects.fill(round);
      return {
        requests: objects.all((number) => objects.delete(number)),
        repeat: false,
        verify: (done) => objects.verifyGone(round.endpoint, done),
        clear: (done) => objects.clear(round.endpoint, done, objects.count),
      };
    },
  };
}

const singleObjectLoads: readonly Load[] = sizes.flatMap((size) => [
  putLoad(size),
  readLoad('get', size),
  readLoad('head', size),
  deleteLoad(size),
]);

/** The most requests of one round of mixed loads, for each second and together. */
interface MixedSize {
  readonly name: string;
  readonly bytes: number;
  readonly perSecond: number;
  readonly most: number;
}

const mixedSizes: readonly MixedSize[] = [
  { name: '64KiB', bytes: 65_536, perSecond: 15_000, most: 60_000 },
  { name: '256KiB', bytes: 262_144, perSecond: 10_000, most: 30_000 },
];

/** Of 20 operations 9 are GET, 6 HEAD, 3 PUT and 2 DELETE, evenly distributed: other S3 benchmarks use the same shares. */
const pattern = 'ghgpghgdghgphgpghgdh';
/** The number of PUTs between the PUT and the DELETE of an object. It is larger than the number of pending requests. */
const lag = 512;

/** The step between objects that are read. It has no common factor with their number. */
const stride = 787;

interface MixedRequests {
  readonly requests: readonly RingRequest[];
  /** The objects that exist before the round and in it: after `done` requests those from `deleted(done)` to `written(done)` exist. */
  readonly written: (done: number) => number;
  readonly deleted: (done: number) => number;
}

/** Returns the requests of one round. It is pure. The first `lag` objects of `changing` must exist. */
export function mixedRequests(count: number, reading: Objects, changing: Objects): MixedRequests {
  const requests: RingRequest[] = [];
  const written = new Uint32Array(count + 1);
  const deleted = new Uint32Array(count + 1);
  let [puts, deletes] = [lag, 0];
  written[0] = puts;
  for (let at = 0; at < count; at += 1) {
    const kind = pattern[at % pattern.length];
    const read = (at * stride) % reading.count;
    if (kind === 'g') requests.push(reading.get(read));
    else if (kind === 'h') requests.push(reading.head(read));
    else if (kind === 'p') requests.push(changing.put(puts++));
    else requests.push(changing.delete(deletes++));
    written[at + 1] = puts;
    deleted[at + 1] = deletes;
  }
  return { requests, written: (done) => written[done] ?? puts, deleted: (done) => deleted[done] ?? deletes };
}

const mixedLoads: readonly Load[] = mixedSizes.map(({ name, bytes, perSecond, most: max }) => ({
  name: `mixed-${name}`,
  help: `45 % GET, 30 % HEAD, 15 % PUT, 10 % DELETE of ${name}`,
  async prepare(round) {
    const bodies = bodiesOf(bytes);
    const reading = new Objects(`mixed-reads-${name}`, 1_000, bodies);
    await reading.fill(round);
    const prefix = `mixed/${round.id}`;
    await new Objects(prefix, lag, bodies).fill(round);
    const changing = new Objects(prefix, max, bodies);
    const mixed = mixedRequests(Math.min(max, Math.ceil(perSecond * round.seconds)), reading, changing);
    return {
      requests: mixed.requests,
      repeat: false,
      async verify(done) {
        await changing.verifyGone(round.endpoint, mixed.deleted(done));
        await reading.verify(round.endpoint, reading.count);
      },
      clear: (done) => changing.clear(round.endpoint, mixed.deleted(done), mixed.written(done)),
    };
  },
}));

const partBytes = 8_388_608;
const bodies = () => bodiesOf(partBytes);

/** The hashes of the parts, in order. The contents are equal in all rounds. */
const etags: string[] = [];

function etag(part: number): string {
  const known = etags[part];
  if (known !== undefined) return known;
  const made = createHash('md5').update(bodies().stamp(part)).update(bodies().tail).digest('hex');
  etags[part] = made;
  return made;
}

async function initiate(endpoint: Endpoint, path: string): Promise<string> {
  const { body } = await askWell(endpoint, { method: 'POST', path, query: 'uploads=' });
  const id = /<UploadId>([^<]+)<\/UploadId>/.exec(body.toString())?.[1];
  if (id === undefined) throw new Error(`no upload ID is in the answer to POST ${path}?uploads=`);
  return id;
}

/** Completes the upload. It also throws on an error that follows the status 200. */
async function complete(endpoint: Endpoint, path: string, upload: string, parts: number): Promise<void> {
  const listed = Array.from(
    { length: parts },
    (_, part) => `<Part><PartNumber>${part + 1}</PartNumber><ETag>"${etag(part)}"</ETag></Part>`,
  );
  const document = `<CompleteMultipartUpload>${listed.join('')}</CompleteMultipartUpload>`;
  const query = `uploadId=${encodeURIComponent(upload)}`;
  const { body } = await askWell(endpoint, { method: 'POST', path, query }, Buffer.from(document));
  if (!body.includes('CompleteMultipartUploadResult')) throw new Error(`completing failed: ${body.toString()}`);
}

/** Verifies the length and the start of some parts. */
async function verify(endpoint: Endpoint, path: string, parts: number): Promise<void> {
  for (const part of [0, Math.floor(parts / 2), parts - 1]) {
    const from = part * partBytes;
    const fields = `Range: bytes=${from}-${from + stampBytes - 1}\r\n`;
    const { body, head } = await askWell(endpoint, { method: 'GET', path, query: '', fields });
    if (body.toString('latin1') !== bodies().stamp(part))
      throw new Error(`part ${part + 1} of ${path} came back changed`);
    if (!head.includes(`/${parts * partBytes}`))
      throw new Error(`${path} has another length than ${parts * partBytes}`);
  }
}

/** Measures whole uploads. One operation lasts from the first part to the answer of the completion. Latencies are those of parts. */
const multipartLoad: Load = {
  name: 'multipart-1GiB',
  help: 'a multipart upload of 1 GiB in 128 parts of 8 MiB',
  async prepare({ endpoint, quick, id }) {
    const parts = quick ? 16 : 128;
    const path = `/${bucket}/multipart/${id}`;
    const upload = await initiate(endpoint, path);
    const query = (part: number) => `partNumber=${part + 1}&uploadId=${encodeURIComponent(upload)}`;
    for (let part = 0; part < parts; part += 1) etag(part);
    return {
      requests: Array.from({ length: parts }, (_, part) => ({
        method: 'PUT' as const,
        path,
        query: query(part),
        length: partBytes,
        stamp: bodies().stamp(part),
        tail: bodies().tail,
      })),
      repeat: false,
      whole: true,
      operations: 1,
      conclude: () => complete(endpoint, path, upload, parts),
      verify: () => verify(endpoint, path, parts),
      async clear() {
        await askWell(endpoint, { method: 'DELETE', path, query: '' });
      },
    };
  },
};

export const loads: readonly Load[] = [
  ...singleObjectLoads,
  ...mixedLoads,
  ...listLoads,
  ...versionLoads,
  multipartLoad,
];

/** Returns the loads of these names. `put` means the loads of all sizes. */
export function loadsNamed(names: readonly string[]): Load[] {
  const found = names.map((name) => {
    const exact = loads.filter((load) => load.name === name);
    const begun = exact.length > 0 ? exact : loads.filter((load) => load.name.startsWith(`${name}-`));
    if (begun.length > 0) return begun;
    throw new Error(`no load is named "${name}": choose from ${loads.map((load) => load.name).join(', ')}`);
  });
  return [...new Set(found.flat())];
}
