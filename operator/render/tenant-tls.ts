import type { Tenant } from '../api/object.ts';
import { mounted, text, type MountedFile } from '../workload.ts';
import { serverCertificate } from './certificates.ts';
import { variable } from './environment.ts';
import { nothing, type RenderedPart } from './rendered-part.ts';
import { issuedCertificate, secretValue, type RenderContext } from './render-context.ts';
import { fieldInput } from './restart-inputs.ts';

/** TLS of the S3 API and the console. The server re-reads its certificate, so that only TLS itself coming or going restarts it. */
export function renderTls(tenant: Tenant, context: RenderContext): RenderedPart {
  const { tls } = tenant.spec;
  if (tls === undefined) return nothing;
  const of = { kind: 'Tenant', name: tenant.metadata.name } as const;
  return {
    environment: [
      variable('SVC_TLS_CERT_FILE', text`${mounted('tls', 'tls.crt')}`),
      variable('SVC_TLS_KEY_FILE', text`${mounted('tls', 'tls.key')}`),
    ],
    files: tls.secretName === undefined ? madeFiles(of.name, context) : ownFiles(tls.secretName, of.name, context),
    inputs: [fieldInput('TenantChanged', 'spec.tls', of, true, context)],
  };
}

function ownFiles(secret: string, tenant: string, context: RenderContext): readonly MountedFile[] {
  return (['tls.crt', 'tls.key'] as const).map((key) => {
    secretValue(context.secrets, { name: secret, key }, `spec.tls.secretName of Tenant ${tenant}`, 'tls');
    return { path: key, content: { kind: 'secret', secret, key }, reloads: true };
  });
}

function madeFiles(tenant: string, context: RenderContext): readonly MountedFile[] {
  const certificate = serverCertificate(tenant);
  issuedCertificate(context.certificates, certificate, `the certificate of Tenant ${tenant}`);
  return [
    { path: 'tls.crt', content: { kind: 'certificate', certificate, part: 'certificate' }, reloads: true },
    { path: 'tls.key', content: { kind: 'certificate', certificate, part: 'key' }, reloads: true },
  ];
}
