import { adminError } from '../administration/admin-error.ts';
import { type AdminAnswer, type AdminCall, cofferPath, json, type Route } from './call.ts';

/** The events that targets of notifications have refused. MinIO has no such calls: one event stops its whole target. */
export const heldEventRoutes: readonly Route[] = [
  { method: 'GET', path: cofferPath('notifications/held'), action: 'admin:ListHeldEvents', serve: list },
  {
    method: 'POST',
    path: cofferPath('notifications/held/retry'),
    action: 'admin:RetryHeldEvents',
    slow: true,
    serve: (call) => change(call, 'retry'),
  },
  {
    method: 'POST',
    path: cofferPath('notifications/held/drop'),
    action: 'admin:DropHeldEvents',
    slow: true,
    serve: (call) => change(call, 'drop'),
  },
];

/** Events of a page. */
const limit = 1_000;
/** Names in a call. Its query is in the head of the request, which has 32 KiB at most. */
const maxNames = 400;

async function list(call: AdminCall): Promise<AdminAnswer> {
  const target = await targetOf(call);
  return json(await heldOf(call).list(target, { after: call.query.get('after') ?? undefined, limit }));
}

/** The events are named by `id`, which may come again, or are `all=true`. */
async function change(call: AdminCall, what: 'retry' | 'drop'): Promise<AdminAnswer> {
  const target = await targetOf(call);
  const { request, query } = call;
  const [ids, all] = [query.getAll('id'), query.get('all')];
  if (all !== null && all !== 'true') throw invalid(`all is ${all}: it is true, or absent.`);
  if ((all === 'true') === ids.length > 0) throw invalid('Name events by id, or all of the target by all=true.');
  if (ids.length > maxNames) throw invalid(`A call names at most ${maxNames} events, not ${ids.length}.`);
  const wrong = ids.find((id) => !/^[0-9a-f]{48}$/.test(id));
  if (wrong !== undefined) throw invalid(`${wrong.slice(0, 100)} names no event: the list of held events has the ids.`);
  const onChanged = ({ bucket, key, versionId }: { bucket: string; key: string; versionId?: string | undefined }) =>
    request.audit?.addObject({ key: `${bucket}/${key}`, versionId });
  return json(await heldOf(call)[what](target, { chosen: all === 'true' ? 'all' : ids, onChanged }));
}

/** Returns the target that the call names, as `ID:TYPE` or as its ARN. */
async function targetOf(call: AdminCall): Promise<string> {
  const named = call.required('target').replace(/^arn:(?:minio|coffer|aws):sqs:[^:]*:/, '');
  const queues = (await call.services.notifications?.()) ?? [];
  if (queues.some(({ target }) => target === named)) return named;
  const known = queues.map(({ target }) => target).join(', ');
  throw adminError(
    'XMinioAdminNoSuchConfigTarget',
    `There is no target ${named.slice(0, 100)}${known === '' ? '' : `: there are ${known}`}.`,
  );
}

function heldOf({ services: { heldNotifications } }: AdminCall) {
  if (heldNotifications !== undefined) return heldNotifications;
  throw adminError('XCofferRefused', 'This server sends no events.');
}

function invalid(message: string) {
  return adminError('XCofferInvalidRequest', message);
}
