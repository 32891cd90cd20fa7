import type { Tenant } from '../../api/object.ts';
import { certificateNeeds, serverCertificate } from '../../render/certificates.ts';
import { workloadName } from '../../render/render-context.ts';
import type { Resources } from '../resources.ts';
import type { SharedState } from '../shared-state.ts';
import type { TenantAccess } from './controller.ts';

/** Returns the address and the credentials of a tenant's server; undefined while none of its instances serves. */
export async function tenantAccess(
  tenant: Tenant,
  resources: Resources,
  { options, roots }: SharedState,
): Promise<TenantAccess | undefined> {
  const running = await options.runtime.observeOne(workloadName({ kind: 'Tenant', name: tenant.metadata.name }));
  const address = running?.addresses['s3'];
  const serves = running?.instances.some(({ state }) => state.kind === 'ready') === true;
  if (address === undefined || !serves) return undefined;
  const { rootUser, rootPassword } = await roots.accepted(tenant, resources.secrets);
  if (rootUser === undefined || rootPassword === undefined) return undefined;
  const ca = await authorityOf(tenant, resources, options.runtime);
  return { tenant, address, rootUser, rootPassword, ca };
}

/** Returns the authority that the certificate of the S3 API is checked with: the operator's, or the `ca.crt` of the user's Secret. */
async function authorityOf(
  tenant: Tenant,
  { secrets }: Resources,
  runtime: SharedState['options']['runtime'],
): Promise<string | undefined> {
  const { tls } = tenant.spec;
  if (tls === undefined) return undefined;
  if (tls.secretName !== undefined) return secrets.get(tls.secretName)?.data['ca.crt'];
  const name = serverCertificate(tenant.metadata.name);
  const needs = certificateNeeds([tenant], new Map()).filter((need) => need.name === name);
  return (await runtime.ensureCertificates(needs)).get(name)?.ca;
}
