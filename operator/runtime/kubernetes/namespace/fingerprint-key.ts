import { ResourceError } from '../../../api/resource-error.ts';
import { createHmac, randomBytes } from 'node:crypto';
import type { Cache, KubeApi } from '../../../kube-client/kube-api.ts';
import { encodeData, secretData, madeSecret } from './made-secret.ts';
import { managedBy } from '../objects/labels.ts';

const fingerprintKeySecret = 'coffer-fingerprint-key';
const dataKey = 'key';

/**
 * Returns the key of the namespace's fingerprints from the Secret `coffer-fingerprint-key`, and makes it once. A fingerprint shows that a
 * value changed, and nothing of the value. The Secret belongs to no resource: another key would change every fingerprint and restart
 * everything. Errors with a `KubeError`, and with `ResourceError` when the Secret holds no key.
 */
export async function fingerprintKey(
  options: { readonly api: KubeApi; readonly secrets: Cache },
  namespace: string,
): Promise<Buffer> {
  const secret = await madeSecret(options, namespace, fingerprintKeySecret, () => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: fingerprintKeySecret,
      namespace,
      labels: { 'app.kubernetes.io/managed-by': managedBy, 'app.kubernetes.io/name': 'coffer' },
    },
    type: 'Opaque',
    immutable: true,
    data: encodeData({ [dataKey]: randomBytes(32).toString('hex') }),
  }));
  const key = secretData(secret)[dataKey];
  if (key === undefined || !/^[0-9a-f]{64}$/.test(key)) {
    throw new ResourceError(
      'Conflict',
      `Secret ${fingerprintKeySecret} holds no key of the operator, which needs its name: ` +
        'delete it if nothing else needs it; servers and key services of the namespace then restart once',
    );
  }
  return Buffer.from(key, 'hex');
}

/** Returns a function for the HMAC-SHA-256 of a value, base64url. */
export function fingerprintWith(key: Buffer): (value: string) => string {
  return (value) => createHmac('sha256', key).update(value).digest('base64url');
}
