import { printableName } from '../auth/identities/subject.ts';
import type { X509Certificate } from 'node:crypto';
import type { PeerCertificate } from 'node:tls';
import { namesClientUse } from '../../platform/tls/client-certificate.ts';
import type { ClientCertificateSettings } from '../../platform/settings/identity-settings.ts';
import type { IncomingRequest, RecordedBearer } from '../http/contract/request.ts';
import type { IdentityReader } from '../auth/identities/identities.ts';
import { expirationIn, checkSession, sessionRequest, type StsAction } from './sts-request.ts';
import { type GrantServices, grantCredentials } from './grant-credentials.ts';
import { assumedRoleUser, credentialsElement, stsError } from './sts-error.ts';
import type { RequestError } from '../../protocol/request-error.ts';

interface CertificateServices extends GrantServices {
  /** Absent if client certificates are not accepted. */
  readonly settings?: ClientCertificateSettings;
  readonly identities: Pick<IdentityReader, 'policy' | 'policiesOf'>;
  readonly clock: () => Date;
}

/** Seconds. */
const defaultDuration = 3_600;

/** Credentials for the owner of a client certificate, at most until it expires. Its common name is the name of a policy. */
export function assumeRoleWithCertificate(services: CertificateServices): StsAction {
  return {
    name: 'AssumeRoleWithCertificate',
    async serve(parameters, request) {
      const session = sessionRequest(parameters);
      checkSession(session);
      const now = services.clock();
      const certificate = presented(request, services.settings);
      request.audit?.setBearer(bearerOf(certificate));
      const end = checkValidity(certificate, now);
      const name = commonName(certificate);
      if ((await services.identities.policy(name)) === undefined) {
        throw stsError(
          'InvalidParameterValue',
          `There is no policy ${JSON.stringify(name)}, which the common name of the client certificate names.`,
        );
      }
      const asked = expirationIn(session.durationSeconds ?? defaultDuration, now);
      const parent = `tls:${name}`;
      const granted = await grantCredentials(services, {
        action: 'AssumeRoleWithCertificate',
        audit: request.audit,
        from: request,
        subject: {
          kind: 'federated',
          source: 'certificate',
          provider: 'tls',
          parent,
          displayName: printableName(name),
          subjectId: certificate.fingerprint256,
          policies: [name],
          targets: [],
          claims: {},
        },
        parentName: parent,
        session,
        expiration: end < asked ? end : asked,
        now,
      });
      return { result: [assumedRoleUser('', granted), credentialsElement(granted)], granted };
    },
  };
}

function presented(request: IncomingRequest, settings: ClientCertificateSettings | undefined): X509Certificate {
  if (settings === undefined) {
    throw stsError('InvalidParameterValue', 'Client certificates are not taken here; set SVC_IDENTITY_TLS_ENABLE.');
  }
  if (!request.secure) {
    throw stsError('InsecureConnection', 'A client certificate needs a TLS connection from the client to this server.');
  }
  const found = request.clientCertificate?.();
  if (found === undefined) throw invalid('the client sent none');
  if (!settings.skipVerify && found.issue !== undefined) throw invalid(`it cannot be verified (${found.issue})`);
  if (found.certificate.ca) throw invalid('it is the certificate of an authority, and not of a client');
  if (!namesClientUse(found.certificate)) {
    throw invalid('its extended key usage does not say client authentication');
  }
  return found.certificate;
}

/** Returns the expiry in whole seconds. */
function checkValidity({ validFromDate, validToDate }: X509Certificate, now: Date): Date {
  if (now < validFromDate) throw invalid(`it is valid from ${validFromDate.toISOString()} on`);
  if (now >= validToDate) throw invalid(`it was valid until ${validToDate.toISOString()}`);
  return validToDate;
}

function commonName(certificate: X509Certificate): string {
  const name = nameOf(certificate);
  if (name !== undefined) return name;
  throw invalid('it must have one common name, that of a policy');
}

function nameOf(certificate: X509Certificate): string | undefined {
  // Node's types say that each certificate has a subject and an issuer, but an empty one is undefined.
  const { CN } = (certificate.toLegacyObject() as Partial<PeerCertificate>).subject ?? {};
  return typeof CN === 'string' && CN !== '' && Buffer.byteLength(CN) <= 128 ? CN : undefined;
}

function bearerOf(certificate: X509Certificate): RecordedBearer {
  const name = nameOf(certificate);
  return {
    source: 'certificate',
    provider: 'tls',
    // OpenSSL writes each part of the name on a line.
    issuer: ((certificate.issuer as string | undefined) ?? '').replaceAll('\n', ', ').slice(0, 512),
    subject: certificate.fingerprint256,
    ...(name === undefined ? {} : { name: printableName(name) }),
  };
}

function invalid(why: string): RequestError {
  return stsError('InvalidClientCertificate', `The client certificate is not accepted: ${why}.`);
}
