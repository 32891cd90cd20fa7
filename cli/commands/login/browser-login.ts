import { answerHalfClosed } from '../../../platform/http/half-closed.ts';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import { ProgramError } from '../../../platform/errors/program-error.ts';
import { explain, tokensOf, type ProviderSession, type Tokens } from './provider-session.ts';

/** Milliseconds that the user has in the browser. */
const loginMs = 5 * 60_000;
const callbackPath = '/callback';

/**
 * Signs in by a browser of this machine: authorization code with PKCE, and a redirect to a port of the loopback interface. `show` opens
 * or prints the address of the login page.
 *
 * @see https://www.rfc-editor.org/rfc/rfc8252#section-7.3
 */
export async function tokensByBrowser(
  { configuration, scope, provider }: ProviderSession,
  signal: AbortSignal,
  show: (address: string) => void,
): Promise<Tokens> {
  const [codeVerifier, state, nonce] = [randomPKCECodeVerifier(), randomState(), randomNonce()];
  const server = createServer();
  answerHalfClosed(server);
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(loginMs)]);
  try {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening', { signal: bounded });
    const redirectUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}${callbackPath}`;
    const answered = answerOf(server, redirectUri, state, bounded);
    // It is awaited later.
    answered.catch(() => undefined);
    const login = buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope,
      state,
      nonce,
      code_challenge: await calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
    });
    show(login.href);
    const { url, page } = await answered;
    try {
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: codeVerifier };
      const tokens = tokensOf(await authorizationCodeGrant(configuration, url, checks));
      page('You are signed in. You can close this window and go back to the terminal.');
      return tokens;
    } catch (error) {
      page('The login failed. The terminal says why.');
      throw error;
    }
  } catch (error) {
    if (bounded.aborted && !signal.aborted) {
      throw new ProgramError('Failed', `Nobody signed in within ${loginMs / 60_000} minutes; begin again`);
    }
    throw explain(provider, error);
  } finally {
    // The page of the browser is sent first.
    server.close();
    server.closeIdleConnections();
  }
}

interface CallbackAnswer {
  readonly url: URL;
  /** Sends the last page to the browser. */
  readonly page: (text: string) => void;
}

/** Waits for the redirect with the right state. Any other request is refused, also after it. */
async function answerOf(server: Server, redirectUri: string, state: string, signal: AbortSignal) {
  return new Promise<CallbackAnswer>((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const url = URL.canParse(request.url ?? '', redirectUri) ? new URL(request.url ?? '', redirectUri) : undefined;
      if (request.method !== 'GET' || url?.pathname !== callbackPath) send(response, 404, 'There is nothing here.');
      else if (url.searchParams.get('state') === state) resolve({ url, page: (text) => send(response, 200, text) });
      else send(response, 400, 'This is not the answer to a login of this program.');
    });
  });
}

function send(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'",
    'cache-control': 'no-store',
    // The code is in the address.
    'referrer-policy': 'no-referrer',
    connection: 'close',
  });
  response.end(`<!doctype html><title>coffer</title><p>${text}</p>\n`);
}

/** Opens an address in the browser of the user. A failure is not an error: the terminal shows the address, too. */
export function openBrowser(address: string, platform: NodeJS.Platform): void {
  const [program, args] = browserCommand(address, platform);
  const child = spawn(program, [...args], { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
}

/** Returns the program that opens an address, with its arguments. On Windows no shell reads the address, in which `&` separates. */
function browserCommand(address: string, platform: NodeJS.Platform): readonly [string, readonly string[]] {
  if (platform === 'darwin') return ['open', [address]];
  if (platform === 'win32') return ['rundll32', ['url.dll,FileProtocolHandler', address]];
  return ['xdg-open', [address]];
}

/** Reports whether this machine can show a browser to the user. */
export function hasBrowser(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): boolean {
  if (env['SSH_CONNECTION'] || env['SSH_TTY']) return false;
  return platform === 'win32' || platform === 'darwin' || Boolean(env['DISPLAY'] || env['WAYLAND_DISPLAY']);
}
