import type { Cache } from '../../kube-client/kube-api.ts';
import type { ConnectKeyService, OpenKeyService } from '../../reconcile/key-service/prove-keys.ts';
import { workloadName } from '../../render/render-context.ts';
import { leafSecretName } from './certificates/leaf.ts';
import { secretData } from './namespace/made-secret.ts';
import { serviceAddress } from './workload/workload-view.ts';

interface OpenKeyServiceOptions {
  readonly namespace: string;
  readonly secrets: Pick<Cache, 'get'>;
  readonly connect: ConnectKeyService;
}

/** Opens clients of the key services of a namespace. Their certificates come from the Secrets of the operator or of cert-manager. */
export function openKeyServices({ namespace, secrets, connect }: OpenKeyServiceOptions): OpenKeyService {
  return async ({ metadata: { name }, spec: { enclave, address } }, certificate) => {
    const data = secretData(secrets.get(namespace, leafSecretName(certificate)));
    const { 'tls.crt': cert, 'tls.key': key, 'ca.crt': ca } = data;
    if (cert === undefined || key === undefined || ca === undefined) return undefined;
    return connect({
      endpoints: [`https://${serviceAddress(workloadName({ kind: 'KMSConfig', name }), namespace, address.port)}`],
      credentials: { kind: 'pem', cert, key, ca },
      enclave,
    });
  };
}
