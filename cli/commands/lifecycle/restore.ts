import { counted } from '../../../platform/text/message-text.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { element, xmlDocument } from '../../../protocol/s3/xml-writer.ts';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import { displayName, parseRemote } from '../../config/target.ts';
import type { S3Client } from '../../s3/client.ts';
import { EncryptionRules, type EncryptionOptions } from '../../s3/encryption-rules.ts';
import { headObject, type ObjectHeaders, type ObjectRef } from '../../s3/objects.ts';
import { xmlBody } from '../../s3/xml-body.ts';
import type { Context } from '../context.ts';
import { selectObjects, type SelectOptions } from '../data/entries/select-objects.ts';

interface RestoreOptions extends SelectOptions, EncryptionOptions {
  readonly days?: string;
}

/** Milliseconds between two questions whether an object is restored. */
const pollMs = 1_000;

/**
 * Has the server copy objects back from their tier for a number of days, and waits until they are there.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_RestoreObject.html
 */
export async function restore(
  context: Context,
  [argument = '']: readonly string[],
  options: RestoreOptions,
): Promise<void> {
  const days = Number(options.days ?? '1');
  if (!Number.isInteger(days) || days < 1)
    throw new ProgramError('BadArgument', `Invalid --days \`${options.days}\`: it is at least 1`);
  if (options.versionId !== undefined && (options.recursive === true || options.versions === true)) {
    throw new ProgramError('BadArgument', '--version-id names one version: leave out --recursive and --versions');
  }
  const target = parseRemote(argument, await context.aliases());
  if (target.bucket === '')
    throw new ProgramError('BadArgument', `Invalid target \`${argument}\`: name an object or a prefix`);
  const client = await context.client(target.alias);
  const rules = new EncryptionRules(options, {});
  const refs: ObjectRef[] = [];
  for await (const ref of selectObjects(client, target, options)) {
    await requestRestore(client, ref, days);
    refs.push(ref);
  }
  for (const ref of refs) await untilRestored(context, client, ref, rules.forKey(displayName(target, ref.key)));
  context.output.message(`Restored ${refs.length} of ${argument} for ${counted(days, 'day')}.`, {
    restored: refs.length,
  });
}

async function requestRestore(client: S3Client, { bucket, key, versionId }: ObjectRef, days: number): Promise<void> {
  const document = xmlDocument('RestoreRequest', [element('Days', days)]);
  await client.text({ method: 'POST', bucket, key, query: { restore: '', versionId }, ...xmlBody(document) });
}

async function untilRestored(
  context: Context,
  client: S3Client,
  ref: ObjectRef,
  headers: ObjectHeaders,
): Promise<void> {
  for (;;) {
    const { headers: answer } = await headObject(client, ref, { headers });
    const state = answer['x-amz-restore'];
    if (typeof state !== 'string' || !state.includes('ongoing-request="true"')) return;
    await sleep(pollMs, undefined, { signal: context.signal });
  }
}
