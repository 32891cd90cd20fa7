import { setTimeout as sleep } from 'node:timers/promises';
import { adminOf, type AdminClient } from '../admin-client.ts';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import type { Context } from '../context.ts';
import { printable } from '../../../platform/text/printable.ts';
import { singleAttempt } from '../../s3/retry.ts';

interface RotateOptions {
  readonly to?: string;
  /** Uses the newest version instead of a new one. */
  readonly newest?: boolean;
  /** Encrypts the objects again, not only their data keys. */
  readonly rewrite?: boolean;
  /** Objects per second. */
  readonly rate?: string;
  readonly wait?: boolean;
}

interface Rotation {
  readonly from: string;
  readonly to: string;
  readonly mode: string;
  readonly looked: number;
  readonly done: number;
  readonly failed: number;
  /** The first failure. */
  readonly failure?: { readonly bucket?: string; readonly key?: string; readonly message?: string };
  /** Milliseconds since 1970. */
  readonly finished?: number;
  /** The ID of the new version. */
  readonly version?: string;
  /** Milliseconds since 1970. Then the server looks at the objects that were written during the rotation. */
  readonly againAfter?: number;
}

/**
 * Gives a key a new version, or moves its objects to another key. The server works in the background. Without a key the command shows the
 * progress.
 */
export async function rotateKey(
  context: Context,
  [alias = '', key]: readonly string[],
  options: RotateOptions,
): Promise<void> {
  const admin = await adminOf(context, alias);
  if (key === undefined) {
    const rotation = await current(admin);
    if (rotation === undefined) context.output.message('No key was rotated yet.', { rotation: null });
    else print(context, rotation);
    return;
  }
  if (options.rate !== undefined && !/^[1-9]\d{0,6}$/.test(options.rate)) {
    throw new ProgramError('BadArgument', `Invalid --rate \`${options.rate}\`: it is a number of objects from 1`);
  }
  if (options.to !== undefined && options.newest === true) {
    throw new ProgramError(
      'BadArgument',
      'Write --to or --newest: the one is another key, the other a version of the same',
    );
  }
  const mode = options.rewrite === true ? 'rewrite' : undefined;
  const started = await admin.json<Rotation>({
    method: 'POST',
    api: 'coffer',
    call: 'kms/key/rotate',
    query: {
      'key-id': key,
      to: options.to,
      version: options.newest === true ? 'newest' : undefined,
      mode,
      rate: options.rate,
    },
    retries: singleAttempt,
  });
  print(context, started);
  if (options.wait !== true) {
    context.output.hint(`The server goes on by itself. How far it is: coffer admin kms key rotate ${alias}`);
    return;
  }
  print(context, await untilFinished(context, admin));
}

async function untilFinished(context: Context, admin: AdminClient): Promise<Rotation> {
  for (;;) {
    const rotation = await current(admin);
    if (rotation?.finished !== undefined) return rotation;
    await sleep(1_000, undefined, { signal: context.signal });
  }
}

async function current(admin: AdminClient): Promise<Rotation | undefined> {
  const { rotation } = await admin.json<{ readonly rotation?: Rotation | null }>({
    method: 'GET',
    api: 'coffer',
    call: 'kms/key/rotate',
  });
  return rotation ?? undefined;
}

function stateOf({ finished, againAfter }: Rotation): string {
  if (finished !== undefined) return 'done';
  if (againAfter === undefined) return 'under way';
  return `done but for what servers write by keys in memory, which is looked at after ${new Date(againAfter).toISOString()}`;
}

function print(context: Context, rotation: Rotation): void {
  const { from, to, version, looked, done, failed, failure = {}, finished } = rotation;
  const newest =
    version === undefined ? `the newest version of ${from}` : `the new version ${printable(version)} of ${from}`;
  const what = from === to ? newest : `${to} instead of ${from}`;
  const state = stateOf(rotation);
  context.output.message(
    `Objects get ${what}: ${state}; ${looked} looked at, ${done} changed, ${failed} failed.${
      failed === 0 ? '' : ` The first: ${printable(`${failure.bucket}/${failure.key}: ${failure.message}`)}`
    }`,
    {
      ...rotation,
    },
  );
  if (failed > 0 && finished !== undefined) throw new ProgramError('Reported', `${failed} objects failed`);
}
