import { z } from 'zod';
import { renderExplanation } from '../../protocol/policy/render-explanation.ts';
import { cofferPath } from './admin-path.ts';
import { jsonBody } from './json-body.ts';
import { principalNamed } from './principal-named.ts';
import { type AdminAnswer, type AdminCall, json, type Route } from './route.ts';

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
