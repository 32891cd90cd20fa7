import { createHash } from 'node:crypto';
import { askWell } from '../generator/ask.ts';
import { stampBytes } from '../generator/body.ts';
import type { Endpoint } from '../generator/endpoint.ts';
import { bucket, type Load } from './load.ts';
import { bodiesOf } from './sizes.ts';

const partBytes = 8_388_608;
const bodies = () => bodiesOf(partBytes);

/** Of each part, in their order: the contents are the same in every round. */
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

/** Also throws on an error that came after the status of 200. */
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

/** The length, and what some parts begin with. */
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

/** One operation is the whole upload, from its first part to the answer that it is complete; latencies are those of parts. */
export const multipartLoad: Load = {
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
