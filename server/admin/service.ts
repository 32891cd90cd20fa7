import { adminPath, type AdminAnswer, type AdminCall, json, nothing, type Route } from './call.ts';
import type { ServiceAction } from '../administration/services.ts';
import { adminError } from '../administration/admin-error.ts';

/** The right of each action. */
const rights: Readonly<Record<ServiceAction, string>> = {
  restart: 'admin:ServiceRestart',
  stop: 'admin:ServiceStop',
  freeze: 'admin:ServiceFreeze',
  unfreeze: 'admin:ServiceFreeze',
};

/** `mc admin service restart|stop|freeze|unfreeze`. */
export const serviceRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: adminPath('service'),
    // Unknown actions are refused after the check of this right.
    action: ({ query }) => rights[asAction(query) ?? 'restart'],
    serve,
  },
];

async function serve({ services, query }: AdminCall): Promise<AdminAnswer> {
  const action = actionOf(query);
  const dryRun = query.get('dry-run') === 'true';
  if (services.process === undefined) throw adminError('XCofferRefused', 'This server has no process to act on.');
  if (!dryRun) await services.process.act(action);
  // Clients before 2024 read no answer.
  if (query.get('type') !== '2') return nothing;
  const others = (services.others?.() ?? []).map(({ endpoint }) => ({
    host: endpoint,
    err: `this call reaches one server, ${services.server.endpoint}: ask this one too, or let the operator roll them`,
  }));
  return json({ action, dryRun, results: [{ host: services.server.endpoint }, ...others] });
}

function asAction(query: URLSearchParams): ServiceAction | undefined {
  const asked = query.get('action') ?? '';
  // TypeScript does not know that `hasOwn` proves the key.
  return Object.hasOwn(rights, asked) ? (asked as ServiceAction) : undefined;
}

function actionOf(query: URLSearchParams): ServiceAction {
  const action = asAction(query);
  if (action !== undefined) return action;
  const asked = query.get('action') ?? '';
  throw adminError(
    'XCofferInvalidRequest',
    `The parameter action is one of ${Object.keys(rights).join(', ')}, not ${JSON.stringify(asked.slice(0, 40))}.`,
  );
}
