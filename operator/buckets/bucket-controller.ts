import type { Bucket } from '../api/object.ts';
import type { BucketController, BucketOutcome, TenantAccess } from '../reconcile/bucket-controller.ts';
import { notReady, ready } from '../reconcile/conditions.ts';
import { createBucketClient } from './bucket-client.ts';
import { wantedState } from './bucket-state.ts';
import { diffBucket } from './diff-bucket.ts';
import { explainFailure } from './explain-failure.ts';
import { S3Refusal } from './s3-request.ts';
import type { S3Endpoint } from './s3-request.ts';

export interface BucketControllerOptions {
  /** Told what was changed in a bucket, for an event: each time somebody's change by hand was undone, too. */
  readonly onChanged?: (bucket: Bucket, differences: readonly string[]) => void;
  readonly now?: () => Date;
  /** Below 1: spreads the looks at many buckets. */
  readonly random?: () => number;
}

/** Milliseconds between looks at a bucket that is as it should be; up to a fifth more, at random. */
const lookEvery = 240_000;
/** Milliseconds until a bucket that is not empty is tried again. */
const emptyAgainMs = 60_000;

/** Makes buckets of tenants what their Bucket resources say, by the tenant's S3 API. */
export function createBucketController(options: BucketControllerOptions = {}): BucketController {
  const { now = () => new Date(), random = Math.random } = options;
  const settled = (): number => Math.round(lookEvery * (1 + random() / 5));

  return {
    async reconcile(bucket: Bucket, access: TenantAccess): Promise<BucketOutcome> {
      const name = bucketNameOf(bucket);
      const tenant = bucket.spec.tenantRef.name;
      const client = createBucketClient(endpointOf(access), name, now);
      const made: string[] = [];
      let doing = `the bucket "${name}" cannot be read`;
      try {
        for (const change of diffBucket(wantedState(bucket.spec), await client.find())) {
          doing = `${change.difference}, which cannot be changed`;
          await client.make(change);
          made.push(change.difference);
        }
      } catch (error) {
        return explainFailure(error, tenant, doing);
      } finally {
        if (made.length > 0) options.onChanged?.(bucket, made);
      }
      return { findings: [ready(`the bucket "${name}" of tenant "${tenant}" is as it should be`)], afterMs: settled() };
    },

    async remove(bucket: Bucket, access: TenantAccess | undefined) {
      const done = { done: true, findings: [], afterMs: 0 } as const;
      // With its tenant gone there is nobody to ask, and a namespace that is deleted must not wait.
      if (bucket.spec.deletionPolicy === 'Retain' || access === undefined) return done;
      const name = bucketNameOf(bucket);
      const client = createBucketClient(endpointOf(access), name, now);
      try {
        await client.delete();
        return done;
      } catch (error) {
        if (error instanceof S3Refusal && error.code === 'BucketNotEmpty')
          return { done: false, ...notEmpty(bucket, name) };
        const doing = `the bucket "${name}" cannot be deleted`;
        return { done: false, ...explainFailure(error, bucket.spec.tenantRef.name, doing) };
      }
    },
  };
}

/** The name of the bucket that a resource is about. */
export function bucketNameOf({ spec, metadata }: Bucket): string {
  return spec.bucketName ?? metadata.name;
}

function notEmpty(bucket: Bucket, name: string): BucketOutcome {
  const message =
    `the bucket "${name}" of tenant "${bucket.spec.tenantRef.name}" holds objects and is never emptied by the operator: ` +
    'delete them, or set spec.deletionPolicy to Retain to keep them, and this resource goes by itself';
  return { findings: [notReady('BucketNotEmpty', message)], afterMs: emptyAgainMs };
}

function endpointOf({ tenant, address, rootUser, rootPassword, ca }: TenantAccess): S3Endpoint {
  return {
    address,
    tls: tenant.spec.tls !== undefined,
    ...(ca === undefined ? {} : { ca }),
    accessKey: rootUser,
    secretKey: rootPassword,
  };
}
