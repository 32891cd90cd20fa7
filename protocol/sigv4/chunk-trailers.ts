import { createHash } from 'node:crypto';
import { S3Error } from '../s3/s3-error.ts';
import type { ByteReader } from './byte-reader.ts';
import { checkChunkSignature, type ChunkSignatures } from './chunk-signatures.ts';

const longestLine = 1_024;
const mostTrailers = 10;
const signatureName = 'x-amz-trailer-signature';

/**
 * Reads the trailing headers after the last chunk into `trailers`, and checks their signature.
 *
 * Clients end them differently: some put an empty line before the signature, some leave out the last one. Both are taken, since
 * the signature, where there is one, covers every name and value.
 */
export async function readTrailers(
  reader: ByteReader,
  trailers: Map<string, string>,
  signatures: ChunkSignatures | undefined,
  announced: readonly string[] | undefined,
): Promise<void> {
  let sent: string | undefined;
  for (let lines = 0; ; lines += 1) {
    const line = await reader.line(longestLine, () => refused(`a line of them is longer than ${longestLine} bytes`));
    if (line === undefined) break;
    if (lines > mostTrailers) throw refused(`there may be at most ${mostTrailers}`);
    if (line === '') {
      if (signatures === undefined || sent !== undefined) break;
      continue;
    }
    if (sent !== undefined) throw refused('nothing may follow the trailer signature');
    const [name, value] = parseTrailer(line);
    if (name === signatureName) sent = value;
    else if (trailers.has(name)) throw refused(`"${name}" is sent more than once`);
    else trailers.set(name, value);
  }
  if (signatures !== undefined) {
    if (sent === undefined) throw new S3Error('SignatureDoesNotMatch', `The body lacks ${signatureName}.`);
    const covered = createHash('sha256');
    for (const [name, value] of trailers) covered.update(`${name}:${value}\n`, 'latin1');
    checkChunkSignature(signatures.trailer(covered.digest('hex')), sent, 'the trailers');
  }
  checkAnnounced(trailers, announced);
}

function parseTrailer(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
  if (!/^[a-z0-9-]+$/.test(name)) throw refused('each must be a line "name:value"');
  return [name, line.slice(colon + 1).trim()];
}

function checkAnnounced(trailers: ReadonlyMap<string, string>, announced: readonly string[] | undefined): void {
  if (announced === undefined) return;
  const missing = announced.find((name) => !trailers.has(name));
  if (missing !== undefined) throw refused(`"${missing}" is announced by x-amz-trailer and did not come`);
  const unannounced = trailers.keys().find((name) => !announced.includes(name));
  if (unannounced !== undefined) throw refused(`"${unannounced}" is not announced by x-amz-trailer`);
}

function refused(why: string): S3Error {
  return new S3Error('MalformedTrailerError', `The trailing headers of the body are not valid: ${why}.`);
}
