import { Router } from 'express';
import type { PolicyDocument } from '../../../protocol/policy/document.ts';
import type { PolicyInForce, SessionAnswer, Statement } from '../contract/answers.ts';
import type { Principal } from '../../access/principal.ts';
import { displayNameOf, subjectOf } from '../../access/subject-of.ts';
import type { ConsoleServices } from '../services.ts';
import type { Gate, Visit } from './authorize.ts';
import { rightsOf } from './rights-of.ts';
import { isSecure } from './secure.ts';
import type { SignInSessions } from './sign-in-sessions.ts';
import { watchOf } from './watch-visits.ts';
import { clearSessionCookie, visitorOf } from './visitor.ts';

/** Who is signed in, and the end of it. Behind `requireSignIn`, as all that follows. */
export function sessionRoutes(services: ConsoleServices, sessions: SignInSessions, gate: Gate): Router {
  const router = Router();
  router.get('/session', async (request, response) => {
    response.json(await describeSession(services, { request, response }, gate));
  });
  router.post('/sign-out', async (request, response) => {
    watchOf(response)?.isFor('ConsoleSignOut');
    await sessions.end(visitorOf(response).id);
    clearSessionCookie(response, isSecure(request, services.settings));
    response.status(204).end();
  });
  return router;
}

/** The session in the terms of the person: their name, where they came from, and the policies that decide for them. */
export async function describeSession(services: ConsoleServices, visit: Visit, gate: Gate): Promise<SessionAnswer> {
  const session = visitorOf(visit.response);
  const { principal, accessKey } = session.credentials;
  const { s3Url } = services.settings;
  const subject = subjectOf(principal);
  const names = subject === undefined ? [] : await services.access.identities.policiesOf(subject);
  const narrowed = narrowing(principal);
  return {
    name: principal.kind === 'anonymous' ? accessKey : displayNameOf(principal),
    kind: principal.kind === 'anonymous' ? 'temporary' : principal.kind,
    signedInBy: session.signedInBy,
    accessKey,
    signedInAt: session.signedInAt.toISOString(),
    expires: session.expires.toISOString(),
    policies: await Promise.all(names.map((name) => inForce(services, name))),
    may: await rightsOf(visit, gate),
    ...(narrowed === undefined ? {} : { sessionPolicy: statementsOf(narrowed) }),
    ...(s3Url === undefined ? {} : { s3Url }),
  };
}

function narrowing(principal: Principal): PolicyDocument | undefined {
  if (principal.kind === 'temporary') return principal.sessionPolicy;
  return principal.kind === 'service-account' ? principal.inlinePolicy : undefined;
}

export async function inForce(services: Pick<ConsoleServices, 'policies'>, name: string): Promise<PolicyInForce> {
  const document = await services.policies.get(name);
  return document === undefined ? { name } : { name, statements: statementsOf(document) };
}

function statementsOf(document: PolicyDocument): readonly Statement[] {
  return document.statements;
}
