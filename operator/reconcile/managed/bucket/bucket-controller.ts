import { ResourceError } from '../../../api/resource-error.ts';
import type { Bucket } from '../../../api/object.ts';
import { createController, type ControllerOptions } from '../create-controller.ts';
import { endpointOf } from '../signed-request.ts';
import type { ManagedContext, ManagedController } from '../controller.ts';
import { createBucketClient } from './bucket-client.ts';
import { replicationChanges } from './replication-changes.ts';
import { wantedState, diffBucket, namedSettings } from './bucket-state.ts';
import { ResponseError } from '../../../../protocol/response-error.ts';

/** Makes buckets of tenants what their Bucket resources say, by the tenant's S3 API. */
export function createBucketController(options: ControllerOptions = {}): ManagedController<Bucket> {
  return createController(
    {
      describe: (bucket) => `the bucket "${bucketNameOf(bucket)}"`,

      async changes(bucket, context, now) {
        const client = clientOf(bucket, context, now);
        const written = context.status.settings ?? [];
        const wanted = wantedState(bucket.spec, written);
        const found = await client.find({
          notifications: wanted.notifications !== undefined,
          versioning: wanted.versioning !== undefined,
          lifecycle: wanted.lifecycle !== undefined,
        });
        const all = [...new Set([...written, ...namedSettings(bucket.spec)])];
        const changes = diffBucket(wanted, found);
        // A setting that is written must not be forgotten: its removal from the resource removes it.
        if (changes.length > 0 && all.length > written.length) await context.remember({ settings: all });
        return [
          ...changes.map((change) => ({
            difference: change.difference,
            make: () => client.make(change),
          })),
          ...(await replicationChanges(
            bucket.spec,
            { client, bucket: bucketNameOf(bucket), isNew: found === undefined },
            context,
            now,
          )),
        ];
      },

      status: (bucket) => ({ bucketName: bucketNameOf(bucket), settings: namedSettings(bucket.spec) }),

      async remove(bucket, context, now) {
        try {
          await clientOf(bucket, context, now).delete();
          return undefined;
        } catch (error) {
          if (error instanceof ResponseError && error.code === 'BucketNotEmpty') return notEmpty(bucket);
          throw error;
        }
      },
    },
    options,
  );
}

/** The name of the bucket that a resource is about. */
function bucketNameOf({ spec, metadata }: Bucket): string {
  return spec.bucketName ?? metadata.name;
}

function clientOf(bucket: Bucket, { access }: ManagedContext, now: () => Date) {
  return createBucketClient(endpointOf(access), bucketNameOf(bucket), now);
}

function notEmpty(bucket: Bucket): ResourceError {
  return new ResourceError(
    'BucketNotEmpty',
    `the bucket "${bucketNameOf(bucket)}" of tenant "${bucket.spec.tenantRef.name}" holds objects and is never emptied by the operator: ` +
      'delete them, or set spec.deletionPolicy to Retain to keep them, and this resource goes by itself',
  );
}
