import { legalHoldStatus } from '../../../../protocol/s3/object-lock.ts';
import { parseLocked } from './retention.ts';
import type { RemoteTarget } from '../../../config/target.ts';
import { getLegalHold, putLegalHold } from '../../../s3/object-settings.ts';
import type { ObjectRef } from '../../../s3/objects.ts';
import type { Context } from '../../context.ts';
import type { SelectOptions } from '../entries/select-objects.ts';
import { eachObject, urlOf, withVersion, type Message } from './each-object.ts';

export async function setLegalHold(context: Context, args: readonly string[], options: SelectOptions): Promise<void> {
  await change(context, args, options, true);
}

export async function clearLegalHold(context: Context, args: readonly string[], options: SelectOptions): Promise<void> {
  await change(context, args, options, false);
}

export async function showLegalHold(context: Context, args: readonly string[], options: SelectOptions): Promise<void> {
  const target = await parseLocked(context, args[0] ?? '', options);
  await eachObject(context, target, options, 'show the legal hold of', async (client, ref) =>
    messageOf(target, ref, await getLegalHold(client, ref)),
  );
}

async function change(context: Context, args: readonly string[], options: SelectOptions, on: boolean): Promise<void> {
  const target = await parseLocked(context, args[0] ?? '', options);
  const doing = `${on ? 'set' : 'clear'} the legal hold of`;
  await eachObject(context, target, options, doing, async (client, ref) => {
    await putLegalHold(client, ref, on);
    return messageOf(target, ref, on);
  });
}

function messageOf(target: RemoteTarget, ref: ObjectRef, on: boolean | undefined): Message {
  const legalhold = on === undefined ? '' : legalHoldStatus(on);
  const { key, versionId: versionID = '' } = ref;
  return {
    human: `[ ${(legalhold || 'none').padEnd(4)} ] ${withVersion(target, ref)}`,
    fields: { legalhold, urlpath: urlOf(target, key), key, versionID },
  };
}
