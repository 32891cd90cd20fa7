import type { Request } from 'express';
import type { OpenIdProvider } from '../../../federation/openid-providers.ts';
import type { ConsoleServices } from '../../services.ts';
import { basePathOf } from '../base-path.ts';
import { isEncrypted } from '../request-source.ts';
import { redirectUri, usedUrl } from './redirects.ts';

/** Returns the address to which the provider sends the browser back. */
export function redirectUriFor(
  request: Request,
  services: Pick<ConsoleServices, 'settings'>,
  provider: OpenIdProvider,
): string {
  const { browserUrl, ownUrl } = services.settings;
  return redirectUri({
    dynamic: provider.settings.redirectUriDynamic,
    fixed: provider.settings.redirectUri,
    browserUrl,
    ownUrl,
    usedUrl: `${usedUrlOf(request)}${basePathOf(services.settings)}`,
    allowedHosts: services.settings.redirectHosts ?? [],
  });
}

/** Returns the address of the console that the browser used. */
export function usedUrlOf(request: Request): string {
  return usedUrl({
    host: request.get('host'),
    forwardedProto: request.get('x-forwarded-proto'),
    encrypted: isEncrypted(request),
  });
}
