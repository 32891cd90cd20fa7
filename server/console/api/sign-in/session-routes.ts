import { Router } from 'express';
import type { PolicyDocument } from '../../../../protocol/policy/document.ts';
import {
  type PolicyInForce,
  type SessionAnswer,
  type Statement,
  consoleActions,
  type ConsoleAction,
  type Rights,
} from '../../contract/answers.ts';
import { type Principal, type StoredCredentials, displayNameOf, subjectOf } from '../../../auth/principal.ts';
import type { ConsoleServices } from '../../services.ts';
import type { Gate, Visit } from '../authorize.ts';
import { isSecure } from '../request-source.ts';
import type { SignInSessions, SignedInBy } from './sign-in-sessions.ts';
import { watchOf } from '../watch-visits.ts';
import { clearSessionCookie, visitorOf, enter, setSessionCookie } from './visitor.ts';
import { clearNotice } from './cookies.ts';

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

/** From here on the browser is signed in, and the request too. */
export async function beginSession(
  { settings }: Pick<ConsoleServices, 'settings'>,
  sessions: SignInSessions,
  { request, response }: Visit,
  { credentials, signedInBy }: { readonly credentials: StoredCredentials; readonly signedInBy: SignedInBy },
): Promise<void> {
  const { secret, session } = await sessions.begin({ credentials }, signedInBy);
  const secure = isSecure(request, settings);
  setSessionCookie(response, secret, secondsUntil(session.expires, session.signedInAt.getTime()), secure);
  clearNotice(response, secure);
  enter(response, session);
}

export function secondsUntil(expires: Date, nowMs: number): number {
  return Math.max(1, Math.floor((expires.getTime() - nowMs) / 1000));
}

/** Which pages and buttons the person gets to see. */
async function rightsOf(visit: Visit, gate: Gate): Promise<Rights> {
  const [all, own] = await Promise.all([
    keep((action) => gate.allows(visit, action, '')),
    keep((action) => gate.allowsOwn(visit, action)),
  ]);
  return { all, own };
}

async function keep(allowed: (action: ConsoleAction) => Promise<boolean>): Promise<ConsoleAction[]> {
  const answers = await Promise.all(consoleActions.map(allowed));
  return consoleActions.filter((_, at) => answers[at] === true);
}
