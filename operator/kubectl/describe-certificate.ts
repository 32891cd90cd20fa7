import { X509Certificate } from 'node:crypto';
import type { KubeObject } from '../kube/kube-api.ts';
import type { CertificateStatus } from './status-model.ts';

/** When the certificate in a Secret ends; undefined where there is none. Only `tls.crt`, which is public, is looked at. */
export function describeCertificate(secret: KubeObject): CertificateStatus | undefined {
  const encoded = (secret['data'] as Readonly<Record<string, string>> | undefined)?.['tls.crt'];
  if (encoded === undefined) return undefined;
  try {
    const { validToDate } = new X509Certificate(Buffer.from(encoded, 'base64'));
    return { name: secret.metadata.name, notAfter: validToDate.toISOString() };
  } catch {
    // Somebody else's Secret with a key of that name.
    return undefined;
  }
}
