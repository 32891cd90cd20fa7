import { ProgramError } from '../../../platform/errors/program-error.ts';
import { counted } from '../../../platform/text/message-text.ts';
import { printable } from '../../../platform/text/printable.ts';
import type { HeldEvent, HeldEventChange, HeldEventPage } from '../../../protocol/admin/held-event.ts';
import { singleAttempt } from '../../s3/retry.ts';
import { type AdminClient, adminOf } from '../admin-client.ts';
import type { Context } from '../context.ts';

/** Lists the events that a target, or each target, refuses. */
export async function listHeld(context: Context, [alias = '', named]: readonly string[]): Promise<void> {
  const admin = await adminOf(context, alias);
  const targets = named === undefined ? await holdingTargets(admin) : [named];
  let count = 0;
  for (const target of targets) {
    for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
      const page: HeldEventPage = await admin.json({
        method: 'GET',
        api: 'coffer',
        call: 'notifications/held',
        query: { target, after },
      });
      count += page.events.length;
      if (page.events.length > 0) context.output.list(tableOf(context, page.events), fieldsOf(page.events));
      after = page.next;
    }
  }
  if (count === 0) context.output.hint('No event is held.');
}

async function holdingTargets(admin: AdminClient): Promise<readonly string[]> {
  const { targets } = await admin.json<{
    readonly targets: readonly { readonly target: string; readonly held?: object }[];
  }>({ method: 'GET', api: 'coffer', call: 'notifications' });
  return targets.filter(({ held }) => held !== undefined).map(({ target }) => target);
}

function tableOf(context: Context, events: readonly HeldEvent[]): string {
  return context.output.table(
    ['TARGET', 'ID', 'EVENT', 'OBJECT', 'SINCE', 'FIRST REFUSAL'],
    events.map(({ target, id, event, bucket, key, since, error }) => [
      printable(target),
      id,
      printable(event ?? '(damaged)'),
      bucket === undefined ? '-' : printable(`${bucket}/${key ?? ''}`),
      since,
      printable(error),
    ]),
  );
}

function fieldsOf(events: readonly HeldEvent[]) {
  return events.map((event) => ({ ...event }));
}

interface ChosenOptions {
  readonly all?: boolean;
  readonly force?: boolean;
}

export async function retryHeld(
  context: Context,
  [alias = '', target = '', ...ids]: readonly string[],
  { all }: ChosenOptions,
): Promise<void> {
  const { changed, unknown } = await change(context, 'retry', { alias, target, ids, all: all === true });
  context.output.message(
    `${counted(changed, 'event')} of ${target} will be tried again at once. See what stays held: coffer admin events held ${alias} ${target}`,
    { target, retried: changed, unknown },
  );
  refuseUnknown(unknown);
}

/** Events that are dropped are lost, so that all of a target need `--force`. */
export async function dropHeld(
  context: Context,
  [alias = '', target = '', ...ids]: readonly string[],
  { all, force }: ChosenOptions,
): Promise<void> {
  if (all === true && force !== true)
    throw new ProgramError('BadArgument', 'Dropped events are lost: use --all and --force together');
  const { changed, unknown } = await change(context, 'drop', { alias, target, ids, all: all === true });
  context.output.message(`Dropped ${counted(changed, 'event')} of ${target}.`, { target, dropped: changed, unknown });
  refuseUnknown(unknown);
}

/** Names of one call. */
const namesAtOnce = 400;

async function change(
  context: Context,
  what: 'retry' | 'drop',
  {
    alias,
    target,
    ids,
    all,
  }: { readonly alias: string; readonly target: string; readonly ids: readonly string[]; readonly all: boolean },
): Promise<HeldEventChange> {
  if (all === ids.length > 0) throw new ProgramError('BadArgument', 'Name events by their IDs, or all by --all');
  const admin = await adminOf(context, alias);
  const call = (query: { readonly all?: string; readonly id?: readonly string[] }) =>
    admin.longRunning<HeldEventChange>({
      method: 'POST',
      api: 'coffer',
      call: `notifications/held/${what}`,
      query: { target, ...query },
      retries: singleAttempt,
    });
  if (all) return call({ all: 'true' });
  const changes: HeldEventChange[] = [];
  for (let at = 0; at < ids.length; at += namesAtOnce)
    changes.push(await call({ id: ids.slice(at, at + namesAtOnce) }));
  return {
    changed: changes.reduce((sum, { changed }) => sum + changed, 0),
    unknown: changes.flatMap(({ unknown }) => unknown),
  };
}

function refuseUnknown(unknown: readonly string[]): void {
  if (unknown.length === 0) return;
  const [first = ''] = unknown;
  const others = unknown.length === 1 ? '' : ` and ${counted(unknown.length - 1, 'other')}`;
  throw new ProgramError(
    'Failed',
    `${printable(first)}${others} is not held: it was delivered or dropped meanwhile, or never held`,
  );
}
