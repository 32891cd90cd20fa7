import { counted } from '../../../platform/text/message-text.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { adminOf, type AdminClient } from '../admin-client.ts';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import type { Context } from '../context.ts';
import type { S3Client } from '../../s3/client.ts';
import { singleAttempt } from '../../s3/retry.ts';
import { parseRemote } from '../../config/target.ts';
import { ResponseError } from '../../../protocol/response-error.ts';

export type ServiceAction = 'restart' | 'stop' | 'freeze' | 'unfreeze';

export interface ServiceOptions {
  readonly dryRun?: boolean;
  /** The limit of a restart, in seconds. */
  readonly timeout?: string;
}

interface ActionResult {
  readonly action?: string;
  readonly dryRun?: boolean;
  readonly results?: readonly { readonly host?: string; readonly err?: string }[] | null;
}

const done: Readonly<Record<ServiceAction, string>> = {
  restart: 'Restart command successfully sent to',
  stop: 'Stop command successfully sent to',
  freeze: 'Froze: requests of S3 wait until `unfreeze` at',
  unfreeze: 'Unfroze: requests of S3 go on at',
};

/** Restarts, stops, freezes or unfreezes a server. After a restart the command waits until the server is ready. */
export async function service(
  context: Context,
  [alias = '']: readonly string[],
  options: ServiceOptions,
  action: ServiceAction,
): Promise<void> {
  const admin = await adminOf(context, alias);
  const seconds = timeoutOf(options.timeout);
  const dryRun = options.dryRun === true;
  const started = performance.now();
  const result = await admin.json<ActionResult>({
    method: 'POST',
    call: 'service',
    query: { action, type: '2', 'dry-run': String(dryRun) },
    // A retry after a lost answer would restart the server twice.
    retries: singleAttempt,
  });
  const failed = (result.results ?? []).filter(({ err }) => err !== undefined && err !== '');
  const said = dryRun
    ? `Nothing was done (dry run of \`${action}\`) at \`${alias}\`.`
    : `${done[action]} \`${alias}\`.`;
  const problems = failed.map(({ host = '', err = '' }) => `  ${host}: ${err}`);
  if (action !== 'restart' || dryRun) {
    context.output.message([said, ...problems].join('\n'), { serverURL: alias, result });
  } else {
    if (!context.output.json) context.output.message([said, ...problems].join('\n'), {});
    await untilBack(context, admin, alias, seconds);
    const restartDuration = Math.round((performance.now() - started) * 1e6);
    context.output.message(`Restarted \`${alias}\` successfully in ${(restartDuration / 1e9).toFixed(1)} seconds.`, {
      serverURL: alias,
      result,
      restartDuration,
    });
  }
  if (failed.length > 0) throw new ProgramError('Reported', `${failed.length} servers failed`);
}

function timeoutOf(text = '60'): number {
  const seconds = Number(text);
  if (text.trim() !== '' && Number.isFinite(seconds) && seconds > 0) return seconds;
  throw new ProgramError('BadArgument', `Invalid --timeout \`${text}\`: it is a number of seconds above 0`);
}

/** Waits until the server is ready. It still answers for a moment after the request, so its uptime must be shorter than the wait. */
async function untilBack(context: Context, admin: AdminClient, alias: string, seconds: number): Promise<void> {
  const client = await context.client(parseRemote(alias, await context.aliases()).alias);
  const requestedAt = performance.now();
  for (;;) {
    const elapsed = (performance.now() - requestedAt) / 1_000;
    const isBack = (await isNew(admin, elapsed)) && (await isReady(client));
    context.signal.throwIfAborted();
    if (isBack) return;
    if (elapsed >= seconds) {
      throw new ProgramError(
        'NotReady',
        `The server \`${alias}\` does not serve ${counted(seconds, 'second')} after its restart; look at its log, or wait on: ` +
          `coffer ready ${alias} --wait 300`,
      );
    }
    await sleep(200, undefined, { signal: context.signal });
  }
}

/** A caller without the permission to see the state cannot read the uptime. Then a ready server counts as restarted. */
async function isNew(admin: AdminClient, elapsed: number): Promise<boolean> {
  try {
    const { servers = [] } = await admin.json<{ readonly servers?: readonly { readonly uptime?: number }[] }>({
      method: 'GET',
      call: 'info',
      retries: singleAttempt,
    });
    return servers.some(({ uptime = Infinity }) => uptime <= elapsed);
  } catch (error) {
    return error instanceof ResponseError && error.status === 403;
  }
}

async function isReady(client: S3Client): Promise<boolean> {
  return client.text({ method: 'GET', path: '/minio/health/ready', retries: singleAttempt }).then(
    () => true,
    () => false,
  );
}
