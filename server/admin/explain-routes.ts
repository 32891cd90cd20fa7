import { z } from 'zod';
import { renderExplanation } from '../../protocol/policy/render-explanation.ts';
import type { Principal } from '../access/principal.ts';
import { AdminError } from './admin-error.ts';
import { cofferPath } from './admin-path.ts';
import { jsonBody } from './json-body.ts';
import { type AdminAnswer, type AdminCall, json, type Route } from './route.ts';
import type { AdminServices } from './services.ts';

/** Coffer's own call: what would be decided, and why. */
export const explainRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: cofferPath('explain'),
    action: 'admin:ExplainPolicy',
    serve: (call) =>
      explained(call, {
        user: call.required('user'),
        action: call.required('action'),
        resource: call.query.get('resource') ?? '',
        context: {},
      }),
  },
  {
    method: 'POST',
    path: cofferPath('explain'),
    action: 'admin:ExplainPolicy',
    serve: async (call) => explained(call, await jsonBody(call, question)),
  },
];

const values = z.union([z.string().transform((value) => [value]), z.array(z.string())]);

const question = z.object({
  /** A user's name, or any access key. */
  user: z.string().min(1),
  action: z.string().min(1),
  resource: z.string().default(''),
  /** Condition keys of the request, e.g. `aws:SourceIp`. */
  context: z.record(z.string(), values).default({}),
});

async function explained({ services }: AdminCall, asked: z.infer<typeof question>): Promise<AdminAnswer> {
  const { user, action, resource, context } = asked;
  const principal = await principalNamed(services, user);
  const explanation = await services.access.explain({ principal, action, resource, context });
  return json({ user, ...explanation, text: renderExplanation(explanation) });
}

async function principalNamed({ access, identities }: AdminServices, name: string): Promise<Principal> {
  const credentials = await access.credentials(name);
  if (credentials !== undefined) return credentials.principal;
  const shown = JSON.stringify(name.slice(0, 128));
  if ((await identities.user(name))?.status === 'disabled' || (await identities.serviceAccount(name)) !== undefined) {
    throw new AdminError(
      'XCofferRefused',
      `${shown} is disabled or expired, or its owner is: every request of its is refused, whatever the policies say.`,
    );
  }
  throw new AdminError('XMinioAdminNoSuchUser', `There is no user and no access key ${shown}.`);
}
