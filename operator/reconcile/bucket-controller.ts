import type { BucketSpec } from '../api/bucket.ts';
import type { CustomObject, Tenant } from '../api/object.ts';
import type { Finding } from './conditions.ts';

/** What the reconciler needs of a Bucket; its controller knows the rest. */
export type BucketResource = CustomObject<'Bucket', Pick<BucketSpec, 'tenantRef' | 'bucketName' | 'deletionPolicy'>>;

/** How the buckets of a tenant are reached. */
export interface TenantAccess {
  readonly tenant: Tenant;
  /** HOST:PORT of the S3 API. */
  readonly address: string;
  readonly rootUser: string;
  readonly rootPassword: string;
  /** PEM of the authorities of its certificate, where `spec.tls` is set; the system's without it. */
  readonly ca?: string;
}

/** What a Bucket's pass found, and when it is to be looked at again so that drift is repaired. */
export interface BucketOutcome {
  readonly findings: readonly Finding[];
  readonly afterMs: number;
}

/** Makes buckets of tenants what Bucket resources say. What `operator/buckets` gives, and the reconciler calls. */
export interface BucketController {
  /** Errors only where no condition can tell; then the pass is tried again. */
  reconcile(bucket: BucketResource, access: TenantAccess): Promise<BucketOutcome>;
  /**
   * The resource is being deleted: does with the bucket what `deletionPolicy` says. `access` is undefined where its tenant is gone.
   * Resolves with `done` when nothing is left to do, so that the finalizer may go.
   */
  remove(bucket: BucketResource, access: TenantAccess | undefined): Promise<BucketOutcome & { readonly done: boolean }>;
}

/** Holds a deleted Bucket until the bucket itself is dealt with. */
export interface BucketFinalizer {
  /** Adds the finalizer where it is missing. */
  hold(name: string): Promise<void>;
  /** Removes it where it is there. */
  release(name: string): Promise<void>;
}
