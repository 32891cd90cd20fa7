import type { Readable } from 'node:stream';
import type { S3Client } from './client.ts';

/** What to listen to. An empty bucket listens to all of them. */
interface Listening {
  readonly bucket: string;
  readonly events: readonly string[];
  readonly prefix: string;
}

/**
 * Opens the stream of events: a line of JSON for each, and empty lines in between.
 *
 * @throws S3ResponseError of status 501 from a server that has no such stream
 */
export async function listenToEvents(client: S3Client, { bucket, events, prefix }: Listening): Promise<Readable> {
  const query = { ping: '10', events, ...(bucket === '' ? {} : { prefix, suffix: '' }) };
  return (await client.send({ method: 'GET', bucket, query })).body;
}
