import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { OpenIdProblem } from '../../platform/openid/openid-problem.ts';
import type { OpenIdProviderSettings } from '../../platform/settings/server-settings.ts';

/** The certificates (PEM) that this provider is trusted by besides those of the system, as they are now. Rejects with `OpenIdProblem`. */
export async function providerCa({
  ca,
  caFile,
}: Pick<OpenIdProviderSettings, 'ca' | 'caFile'>): Promise<string | undefined> {
  if (ca !== undefined) checkPem('The ca of the provider', ca);
  if (caFile === undefined) return ca;
  let pem: string;
  try {
    pem = await readFile(caFile, 'utf8');
  } catch (error) {
    throw new OpenIdProblem('CaUnusable', `CA_FILE ${caFile} cannot be read (${String(error)}).`, { cause: error });
  }
  checkPem(`CA_FILE ${caFile}`, pem);
  return ca === undefined ? pem : `${ca}\n${pem}`;
}

function checkPem(what: string, pem: string): void {
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs) ?? [];
  if (certificates.length === 0) {
    throw new OpenIdProblem('CaUnusable', `${what} holds no certificate in PEM form.`);
  }
  for (const certificate of certificates) {
    try {
      void new X509Certificate(certificate);
    } catch (error) {
      const message = `${what} holds a certificate that cannot be read: ${String(error)}.`;
      throw new OpenIdProblem('CaUnusable', message, { cause: error });
    }
  }
}
