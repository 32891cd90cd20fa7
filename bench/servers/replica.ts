import { adminCall } from '../../test/support/server/admin-call.ts';
import { startServer, untilReady } from '../../test/support/server/start-server.ts';
import { askWell } from '../generator/ask.ts';
import type { Endpoint } from '../generator/request-signer.ts';
import { makeBucket } from '../generator/session.ts';
import { bucket } from '../loads/load.ts';
import { endpointOf } from './started-server.ts';

/** A second Coffer, to which the bucket of all loads is replicated. It is never paused. */
export interface Replica {
  readonly endpoint: Endpoint;
  stop(): Promise<unknown>;
}

export async function startReplica(): Promise<Replica> {
  const server = await startServer();
  await untilReady(server);
  const endpoint = endpointOf(server);
  await makeBucket(endpoint, { versioned: true, webhook: false });
  return { endpoint, stop: () => server.stop() };
}

/** Replicates new objects of the bucket of all loads to the replica. */
export async function replicateTo(replica: Endpoint, from: Endpoint): Promise<void> {
  const { accessKey, secretKey } = replica;
  const path = `set-remote-target?bucket=${bucket}`;
  const { status, value: arn } = await adminCall(`http://${from.host}:${from.port}`, from, 'PUT', path, {
    endpoint: `${replica.host}:${replica.port}`,
    credentials: { accessKey, secretKey },
    targetbucket: bucket,
    secure: false,
    type: 'replication',
    path: 'on',
    api: 's3v4',
  });
  if (status !== 200 || typeof arn !== 'string') throw new Error(`set-remote-target was answered ${status}`);
  const rule = `<Rule><ID>all</ID><Status>Enabled</Status><Priority>1</Priority><DeleteMarkerReplication><Status>Disabled</Status></DeleteMarkerReplication><Destination><Bucket>${arn}</Bucket></Destination><Filter><Prefix></Prefix></Filter></Rule>`;
  const document = Buffer.from(`<ReplicationConfiguration><Role></Role>${rule}</ReplicationConfiguration>`);
  await askWell(from, { method: 'PUT', path: `/${bucket}`, query: 'replication=' }, document);
}
