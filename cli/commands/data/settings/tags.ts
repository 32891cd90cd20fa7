import type { Tags } from '../../../../protocol/s3/tagging.ts';
import { ProgramError } from '../../../../platform/errors/program-error.ts';
import { parseRemote, type RemoteTarget } from '../../../config/target.ts';
import type { S3Client } from '../../../s3/client.ts';
import { deleteTags, getTags, putTags } from '../../../s3/object-settings.ts';
import type { ObjectRef } from '../../../s3/objects.ts';
import { textFields } from '../../../terminal/format.ts';
import type { Context } from '../../context.ts';
import type { SelectOptions } from '../entries/select-objects.ts';
import { eachObject, urlOf, withVersion, type Message } from './each-object.ts';

interface SetOptions extends SelectOptions {
  readonly excludeFolders?: boolean;
}

/**
 * Parses `KEY=VALUE&KEY=VALUE`, percent-encoded where the texts need it. A `+` stays one: a blank can be written as it is.
 *
 * @throws ProgramError BadArgument
 */
export function parseTags(text: string): Tags {
  const tags = new Map<string, string>();
  for (const [key, value] of new URLSearchParams(text.replaceAll('+', '%2B'))) {
    if (key === '' || tags.has(key)) {
      throw new ProgramError(
        'BadArgument',
        `Invalid tags \`${text}\`: each key is given once, as in KEY=VALUE&KEY=VALUE`,
      );
    }
    tags.set(key, value);
  }
  if (tags.size === 0) throw new ProgramError('BadArgument', 'Invalid tags: write KEY=VALUE&KEY=VALUE');
  return Object.fromEntries(tags);
}

export async function setTags(context: Context, args: readonly string[], options: SetOptions): Promise<void> {
  const [argument = '', text = ''] = args;
  const tags = parseTags(text);
  const target = await targetOf(context, argument, options);
  await each(context, target, options, 'set the tags of', async (client, ref) => {
    if (options.excludeFolders === true && ref.key.endsWith('/')) return undefined;
    await putTags(client, ref, tags);
    return changed(target, ref, 'Tags set for');
  });
}

export async function removeTags(context: Context, args: readonly string[], options: SelectOptions): Promise<void> {
  const [argument = ''] = args;
  const target = await targetOf(context, argument, options);
  await each(context, target, options, 'remove the tags of', async (client, ref) => {
    await deleteTags(client, ref);
    return changed(target, ref, 'Tags removed for');
  });
}

export async function listTags(context: Context, args: readonly string[], options: SelectOptions): Promise<void> {
  const [argument = ''] = args;
  const target = await targetOf(context, argument, options);
  const several = options.recursive === true || options.versions === true;
  await each(context, target, options, 'list the tags of', async (client, ref) => {
    const tags = await getTags(client, ref);
    const none = Object.keys(tags).length === 0;
    if (none && !several && ref.key === '') {
      throw new ProgramError('NotFound', `No tags found for ${withVersion(target, ref)}: \`coffer tag set\` sets them`);
    }
    const human = `${withVersion(target, ref)}\n${none ? '  no tags' : indented(textFields(tags))}`;
    const fields = { url: urlOf(target, ref.key), versionID: ref.versionId ?? '' };
    return { human, fields: none ? fields : { tagset: tags, ...fields } };
  });
}

/** The bucket itself has tags too. */
async function each(
  context: Context,
  target: RemoteTarget,
  options: SelectOptions,
  doing: string,
  work: (client: S3Client, ref: ObjectRef) => Promise<Message | undefined>,
): Promise<void> {
  if (target.key === '' && options.recursive !== true) {
    const message = await work(await context.client(target.alias), { bucket: target.bucket, key: '' });
    if (message !== undefined) context.output.message(message.human, message.fields);
    return;
  }
  await eachObject(context, target, options, doing, work);
}

async function targetOf(context: Context, argument: string, options: SelectOptions): Promise<RemoteTarget> {
  const target = parseRemote(argument, await context.aliases());
  if (target.bucket === '')
    throw new ProgramError('BadArgument', `Invalid target \`${argument}\`: name a bucket or object`);
  const ofVersions = options.versions === true || options.versionId !== undefined || options.rewind !== undefined;
  if (target.key === '' && options.recursive !== true && ofVersions) {
    throw new ProgramError(
      'BadArgument',
      `\`${argument}\` is a bucket, which has no versions: name an object, or use --recursive`,
    );
  }
  return target;
}

function changed(target: RemoteTarget, ref: ObjectRef, what: string): Message {
  const fields = { name: urlOf(target, ref.key), versionID: ref.versionId ?? '' };
  return { human: `${what} ${withVersion(target, ref)}.`, fields };
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, '  ');
}
