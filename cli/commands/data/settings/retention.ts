import type { ObjectLockRule, Retention, RetentionMode } from '../../../../protocol/s3/object-lock.ts';
import { ProgramError } from '../../../../platform/errors/program-error.ts';
import { displayName, parseBucket, parseObject, parseRemote, type RemoteTarget } from '../../../config/target.ts';
import {
  getObjectLock,
  objectLockSetting,
  withDefaultRetention,
  withoutDefaultRetention,
} from '../../../s3/bucket-settings.ts';
import { editSetting } from '../../../s3/edit-setting.ts';
import { getRetention, putRetention } from '../../../s3/object-settings.ts';
import { formatTime } from '../../../terminal/format.ts';
import type { Context } from '../../context.ts';
import type { SelectOptions } from '../entries/select-objects.ts';
import { defaultOf } from '../stat-bucket.ts';
import { eachObject, withVersion } from './each-object.ts';

interface RetentionOptions extends SelectOptions {
  /** The command is about the default of the bucket. */
  readonly default?: boolean;
  readonly bypass?: boolean;
}

/** The duration of a retention. */
export interface Validity {
  readonly unit: 'days' | 'years';
  readonly count: number;
}

/** The arguments are a mode, a validity and a target. */
export async function setRetention(
  context: Context,
  args: readonly string[],
  options: RetentionOptions,
): Promise<void> {
  const [modeText = '', validityText = '', argument = ''] = args;
  const mode = parseMode(modeText);
  const validity = parseValidity(validityText);
  if (options.default === true) {
    const retention = { mode, [validity.unit]: validity.count };
    await changeDefault(context, 'set', argument, { defaultRetention: retention }, (document) =>
      withDefaultRetention(document, retention),
    );
    return;
  }
  const retention = { mode, until: endOf(validity, new Date()) };
  await change(context, argument, options, { op: 'set', retention, bypass: options.bypass === true });
}

/** Removing a retention of the mode GOVERNANCE needs the right to bypass it, which the request always claims. */
export async function clearRetention(
  context: Context,
  [argument = '']: readonly string[],
  options: RetentionOptions,
): Promise<void> {
  if (options.default === true) {
    await changeDefault(context, 'clear', argument, {}, (document) =>
      document === undefined ? noObjectLock(argument) : withoutDefaultRetention(document),
    );
    return;
  }
  await change(context, argument, options, { op: 'clear', retention: undefined, bypass: true });
}

export async function showRetention(
  context: Context,
  [argument = '']: readonly string[],
  options: RetentionOptions,
): Promise<void> {
  if (options.default === true) {
    await showDefault(context, argument);
    return;
  }
  const target = await parseLocked(context, argument, options);
  await eachObject(context, target, options, 'show the retention of', async (client, ref) => {
    const retention = await getRetention(client, ref);
    const lasts = retention === undefined ? 'no retention' : `${retention.mode}, until ${formatTime(retention.until)}`;
    return {
      human: `${withVersion(target, ref)}: ${lasts}`,
      fields: {
        mode: retention?.mode ?? '',
        until: retention?.until ?? '0001-01-01T00:00:00Z',
        urlpath: displayName(target, ref.key),
        versionID: ref.versionId ?? '',
        error: null,
      },
    };
  });
}

interface Change {
  readonly op: string;
  readonly retention: Retention | undefined;
  readonly bypass: boolean;
}

async function change(
  context: Context,
  argument: string,
  options: RetentionOptions,
  { op, retention, bypass }: Change,
): Promise<void> {
  const target = await parseLocked(context, argument, options);
  await eachObject(context, target, options, `${op} the retention of`, async (client, ref) => {
    await putRetention(client, ref, retention, { bypass });
    return {
      human: `Object retention ${op === 'set' ? 'set' : 'cleared'} for ${withVersion(target, ref)}.`,
      fields: {
        op,
        mode: retention?.mode ?? '',
        validity: '',
        urlpath: displayName(target, ref.key),
        versionID: ref.versionId ?? '',
        error: null,
      },
    };
  });
}

async function changeDefault(
  context: Context,
  op: string,
  argument: string,
  rule: ObjectLockRule,
  edit: (document: string | undefined) => string,
): Promise<void> {
  const target = parseBucket(argument.replace(/\/+$/, ''), await context.aliases());
  await editSetting(await context.client(target.alias), target.bucket, objectLockSetting, edit);
  printDefault(context, op, target, rule);
}

async function showDefault(context: Context, argument: string): Promise<void> {
  const target = parseBucket(argument.replace(/\/+$/, ''), await context.aliases());
  const rule = await getObjectLock(await context.client(target.alias), target.bucket);
  printDefault(context, 'info', target, rule ?? noObjectLock(argument));
}

function noObjectLock(argument: string): never {
  throw new ProgramError('NotFound', `Bucket \`${argument}\` has no object lock`);
}

function printDefault({ output }: Context, op: string, target: RemoteTarget, rule: ObjectLockRule): void {
  const { mode = '', validity } = defaultOf(rule);
  const name = `${target.aliasName}/${target.bucket}`;
  const what =
    mode === '' ? `\`${name}\` has no default retention` : `Default retention of \`${name}\`: ${mode}, ${validity}`;
  output.message(what, { op, enabled: 'Enabled', mode, validity: validity || '0' });
}

/** A bucket needs `--recursive`. */
export async function parseLocked(context: Context, argument: string, options: SelectOptions): Promise<RemoteTarget> {
  const aliases = await context.aliases();
  if (options.recursive !== true) return parseObject(argument, aliases);
  const target = parseRemote(argument, aliases);
  if (target.bucket !== '') return target;
  throw new ProgramError('BadArgument', `Invalid target \`${argument}\`: name a bucket`);
}

/** @throws ProgramError BadArgument */
export function parseMode(text: string): RetentionMode {
  const mode = text.toUpperCase();
  if (mode === 'GOVERNANCE' || mode === 'COMPLIANCE') return mode;
  throw new ProgramError('BadArgument', `Invalid retention mode \`${text}\`: it is governance or compliance`);
}

/** @throws ProgramError BadArgument */
export function parseValidity(text: string): Validity {
  const [, count, unit] = /^(\d{1,6})([dy])$/i.exec(text) ?? [];
  if (count === undefined || unit === undefined || Number(count) === 0) {
    throw new ProgramError('BadArgument', `Invalid validity \`${text}\`: write days or years, such as 30d or 1y`);
  }
  return { unit: unit.toLowerCase() === 'd' ? 'days' : 'years', count: Number(count) };
}

/** Returns the end of a retention that begins at `now`. */
export function endOf({ unit, count }: Validity, now: Date): Date {
  const end = new Date(now);
  if (unit === 'days') end.setUTCDate(end.getUTCDate() + count);
  else end.setUTCFullYear(end.getUTCFullYear() + count);
  return end;
}
