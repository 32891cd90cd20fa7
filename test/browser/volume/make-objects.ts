import { drive } from '../../../bench/generator/drive.ts';
import { RequestRing, type RingRequest } from '../../../bench/generator/request-ring.ts';
import { RequestSigner } from '../../../bench/generator/request-signer.ts';
import type { ServerAccess } from '../../support/server/start-server.ts';

export interface ObjectSeries {
  readonly bucket: string;
  readonly count: number;
  /** Its characters need no encoding in a path. */
  readonly keyOf: (index: number) => string;
  /** Bytes. */
  readonly sizeOf: (index: number) => number;
}

/** Requests that are signed together: fewer than the server takes in the 15 minutes of a signature. */
const signedTogether = 20_000;

/** Puts objects by the S3 API, by as many connections at the same time as let a server of two cores work without a pause. */
export async function makeObjects(server: ServerAccess, series: ObjectSeries): Promise<void> {
  const { hostname: host, port } = new URL(server.s3);
  const { accessKey, secretKey } = server;
  const endpoint = { host, port: Number(port), accessKey, secretKey, region: 'us-east-1' };
  for (let first = 0; first < series.count; first += signedTogether) {
    const count = Math.min(signedTogether, series.count - first);
    const requests = Array.from({ length: count }, (_, at) => put(series, first + at));
    const ring = new RequestRing(requests, new RequestSigner(endpoint, new Date()));
    const driven = await drive({ address: endpoint, ring, connections: 64, milliseconds: 600_000, repeat: false });
    if (driven.operations !== count || driven.failures.size > 0) {
      const failures = [...driven.failures].map(([what, times]) => `${what}: ${times}`).join(', ');
      throw new Error(`only ${driven.operations} of ${count} objects from ${first} on were put: ${failures}`);
    }
  }
}

function put({ bucket, keyOf, sizeOf }: ObjectSeries, index: number): RingRequest {
  const length = sizeOf(index);
  return { method: 'PUT', path: `/${bucket}/${keyOf(index)}`, query: '', length, stamp: 'x'.repeat(length) };
}
