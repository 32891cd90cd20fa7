import { mapStream } from '../../../../platform/async/concurrency.ts';
import type { RemoteTarget } from '../../../config/target.ts';
import { displayName } from '../../../config/target.ts';
import type { S3Client } from '../../../s3/client.ts';
import type { ObjectRef } from '../../../s3/objects.ts';
import { printable } from '../../../../platform/text/printable.ts';
import type { Context } from '../../context.ts';
import { Failures } from '../entries/entry.ts';
import { selectObjects, type SelectOptions } from '../entries/select-objects.ts';

/** The output of a command for one object. */
export interface Message {
  readonly human: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Concurrent requests. */
const parallel = 8;

/**
 * Does the work for each object that the target and the flags name, and prints its messages in their order. Where they name several, a
 * failure is reported, the command continues, and the exit code is 1. Work without a message prints nothing.
 */
export async function eachObject(
  context: Context,
  target: RemoteTarget,
  options: SelectOptions,
  doing: string,
  work: (client: S3Client, ref: ObjectRef) => Promise<Message | undefined>,
): Promise<void> {
  const client = await context.client(target.alias);
  const several = options.recursive === true || options.versions === true;
  const failures = new Failures(context);
  const results = mapStream(selectObjects(client, target, options), parallel, async (ref) => {
    try {
      return { ref, message: await work(client, ref) };
    } catch (error) {
      if (!several) throw error;
      return { ref, error };
    }
  });
  for await (const result of results) {
    if ('error' in result) {
      failures.report(result.error, `Unable to ${doing} \`${printable(displayName(target, result.ref.key))}\``);
    } else if (result.message !== undefined) {
      await context.output.line(result.message.human, result.message.fields);
    }
  }
  failures.throwIfAny();
}

/** The address of an object or bucket, as in the answers of other clients. */
export function urlOf(target: RemoteTarget, key: string): string {
  return `${target.alias.url}/${target.bucket}${key === '' ? '' : `/${key}`}`;
}

/** The name of a version for people. */
export function withVersion(target: RemoteTarget, { key, versionId }: ObjectRef): string {
  const name = key === '' ? `${target.aliasName}/${target.bucket}` : displayName(target, key);
  return versionId === undefined ? `\`${printable(name)}\`` : `\`${printable(name)}\` (${versionId})`;
}
