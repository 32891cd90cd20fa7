import type { ResourceReference } from '../../workload.ts';

/** When a certificate ends that the operator keeps, or had made by cert-manager. */
export interface CertificateExpiry {
  readonly kind: 'authority' | 'certificate';
  readonly name: string;
  /** The resource that it is made for; undefined for an authority whose maker is not known any more. */
  readonly owner: ResourceReference | undefined;
  readonly notAfter: Date;
}
