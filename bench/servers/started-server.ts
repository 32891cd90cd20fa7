import type { ServerAccess } from '../../test/support/server/start-server.ts';
import type { Endpoint } from '../generator/request-signer.ts';

/** Returns the place and the root credentials of a Coffer that `startServer` started. */
export function endpointOf({ s3, accessKey, secretKey }: ServerAccess): Endpoint {
  const { hostname: host, port } = new URL(s3);
  return { host, port: Number(port), accessKey, secretKey, region: 'us-east-1' };
}
