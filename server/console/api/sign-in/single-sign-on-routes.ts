import { Router, type Request, type Response } from 'express';
import { isSignedInAt, type OpenIdProvider } from '../../../federation/openid-providers.ts';
import type { RequestWatch } from '../../../http/contract/request.ts';
import type { ConsoleServices } from '../../services.ts';
import { Attempts } from '../../../auth/guess-limits.ts';
import { secondsUntil } from './session-routes.ts';
import { buyCredentials } from './session-credentials.ts';
import { ConsoleError, explain } from '../console-error.ts';
import { readCookie, serializeCookie, clearNotice, setNotice } from './cookies.ts';
import { pendingLifetimeMs, PendingSignIns, type PendingProblem, type PendingSignIn } from './pending-sign-ins.ts';
import { redirectUri, usedUrl, safeReturnPath } from './redirects.ts';
import { isSecure, isEncrypted, originOf, sourceOf } from '../request-source.ts';
import type { SignInSessions } from './sign-in-sessions.ts';
import { authorizationUrl, newCodeFlow, redeemCode } from './single-sign-on.ts';
import { setSessionCookie } from './visitor.ts';
import { watchOf } from '../watch-visits.ts';

const browserCookie = 'coffer_sign_in';

/** Beginnings leave a record each for ten minutes: an address gets so many a minute. */
const beginnings = { most: 60, windowMs: 60_000 };

/** The way out to an identity provider, and back. Both are navigations of the browser, so failures end on the sign-in page. */
export function singleSignOnRoutes(services: ConsoleServices, sessions: SignInSessions, sweep: () => void): Router {
  const router = Router();
  const pending = new PendingSignIns(services.records, services.clock);
  const beginningsOfOne = new Attempts(beginnings);
  const beginningsOfMany = new Attempts({ ...beginnings, most: 10 * beginnings.most });

  async function begin(request: Request, response: Response): Promise<void> {
    const provider = providerOf(services, request.params['provider']);
    const redirect = redirectUriFor(request, services, provider);
    const elsewhere = sameHostUrl(request, redirect);
    if (elsewhere !== undefined) {
      response.redirect(elsewhere);
      return;
    }
    const now = services.clock().getTime();
    const { address: from, shared } = sourceOf(request);
    // An unknown proxy shares its address among many people.
    const attempts = shared ? beginningsOfMany : beginningsOfOne;
    if (attempts.waitSeconds(from, now) > 0) {
      throw new ConsoleError('TooManyAttempts', 'Too many sign-ins begun from your address. Try again in a minute.');
    }
    attempts.count(from, now);
    sweep();
    const flow = newCodeFlow();
    // Asked for before anything is stored: an unavailable provider leaves no record.
    await authorizationUrl(provider, { ...flow, redirectUri: redirect, state: '' });
    const returnPath = safeReturnPath(request.query['to']);
    const { state, browserSecret } = await pending.begin({
      ...flow,
      providerId: provider.id,
      redirectUri: redirect,
      returnPath,
    });
    const secure = isSecure(request, services.settings);
    const maxAge = pendingLifetimeMs / 1000;
    response.append('set-cookie', serializeCookie(browserCookie, browserSecret, { maxAge, secure }));
    clearNotice(response, secure);
    response.redirect((await authorizationUrl(provider, { ...flow, redirectUri: redirect, state })).href);
  }

  async function finish(request: Request, response: Response): Promise<void> {
    const watch = watchOf(response);
    watch?.isFor('ConsoleSignInByProvider');
    const sent = request.query['state'];
    const state = typeof sent === 'string' ? sent.slice(0, 200) : '';
    const taken = await pending.take(
      state,
      readCookie(request.headers.cookie, browserCookie, isSecure(request, services.settings)),
    );
    if (typeof taken === 'string') throw new ConsoleError('SignInRefused', problems[taken]);
    const { secret, maxAge, principal } = await signIn(request, taken, { state, watch });
    watch?.isFrom(principal);
    const secure = isSecure(request, services.settings);
    response.append('set-cookie', serializeCookie(browserCookie, '', { maxAge: 0, secure }));
    setSessionCookie(response, secret, maxAge, secure);
    clearNotice(response, secure);
    response.redirect(taken.returnPath);
  }

  async function signIn(
    request: Request,
    taken: PendingSignIn,
    { state, watch }: { readonly state: string; readonly watch: RequestWatch | undefined },
  ) {
    const provider = providerOf(services, taken.providerId);
    const query = request.originalUrl.split('?').slice(1).join('?');
    const tokens = await redeemCode(provider, { ...taken, state, query });
    const bought = await buyCredentials(services, provider, tokens, { watch, from: originOf(request) });
    const signedInBy = { kind: 'provider', id: provider.id, displayName: provider.displayName } as const;
    const { secret, session } = await sessions.begin(bought, signedInBy);
    services.log.info({ provider: provider.id, accessKey: bought.credentials.accessKey }, 'signed in to the console');
    const maxAge = secondsUntil(session.expires, services.clock().getTime());
    return { secret, maxAge, principal: bought.credentials.principal };
  }

  router.get('/api/sign-in/:provider', endingOnSignInPage(services, begin));
  router.get('/oauth_callback', endingOnSignInPage(services, finish));
  return router;
}

/** A failed navigation shows the sign-in page with the reason, never JSON. */
function endingOnSignInPage(
  services: ConsoleServices,
  handler: (request: Request, response: Response) => Promise<void>,
): (request: Request, response: Response) => Promise<void> {
  return async (request, response) => {
    try {
      await handler(request, response);
    } catch (error) {
      const message = signInFailure(error);
      watchOf(response)?.refused({ code: 'SignInRefused', message });
      services.log.warn({ err: error, path: request.path }, 'a sign-in by an identity provider failed');
      setNotice(response, message, isSecure(request, services.settings));
      response.redirect('/sign-in');
    }
  };
}

/** Refusals are made for the person who asked; anything else only the log may tell. */
function signInFailure(error: unknown): string {
  return explain(error)?.message ?? 'The server failed to sign you in. Its log has the reason.';
}

function providerOf(services: ConsoleServices, id: unknown): OpenIdProvider {
  const provider = typeof id === 'string' ? services.providers.byId(id) : undefined;
  if (provider === undefined || !isSignedInAt(provider)) {
    throw new ConsoleError(
      'SignInRefused',
      `There is no identity provider "${String(id).slice(0, 80)}" here any more.`,
    );
  }
  return provider;
}

function redirectUriFor(request: Request, services: ConsoleServices, provider: OpenIdProvider): string {
  const { browserUrl, ownUrl } = services.settings;
  return redirectUri({
    dynamic: provider.settings.redirectUriDynamic,
    fixed: provider.settings.redirectUri,
    browserUrl,
    ownUrl,
    usedUrl: usedUrlOf(request),
    allowedHosts: services.settings.redirectHosts ?? [],
  });
}

function usedUrlOf(request: Request): string {
  return usedUrl({
    host: request.get('host'),
    forwardedProto: request.get('x-forwarded-proto'),
    encrypted: isEncrypted(request),
  });
}

/**
 * The same beginning at the host where the provider will send the browser back, where the browser used another name of it
 * (localhost for 127.0.0.1): the cookie that ties both ends together belongs to one host. Tried once; a proxy may hide the host.
 */
function sameHostUrl(request: Request, redirect: string): string | undefined {
  const target = new URL(redirect);
  if (request.query['hop'] !== undefined || target.host === new URL(usedUrlOf(request)).host) return undefined;
  const url = new URL(`${redirect.slice(0, -'/oauth_callback'.length)}${request.path}`);
  url.searchParams.set('to', safeReturnPath(request.query['to']));
  url.searchParams.set('hop', '1');
  return target.pathname.endsWith('/oauth_callback') ? url.href : undefined;
}

const problems: Readonly<Record<PendingProblem, string>> = {
  unknown: 'This sign-in was finished before, or was begun at another server. Sign in again.',
  expired: 'You took longer than ten minutes at the identity provider. Sign in again.',
  'other-browser':
    'This sign-in was begun in another browser or at another address of this console, or your browser keeps no cookies. Sign in again.',
};
