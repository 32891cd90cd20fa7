/**
 * What to do about the errors of a login that people meet, by Entra's code.
 *
 * @see https://learn.microsoft.com/entra/identity-platform/reference-error-codes
 */
const advice: ReadonlyMap<string, string> = new Map([
  ['AADSTS7000215', 'the client secret is wrong: take the value of the secret, not its ID. '],
  ['AADSTS7000222', 'the client secret has expired: make a new one in the registered application. '],
  ['AADSTS700016', 'there is no such application in this tenant: check client_id and tenant_id. '],
  ['AADSTS90002', 'there is no such tenant: check tenant_id. '],
  ['AADSTS900023', 'tenant_id is neither a directory ID nor a domain. '],
  [
    'AADSTS70021',
    'no federated credential of the application fits the service account: check its issuer and subject. ',
  ],
  ['AADSTS700211', 'no federated credential of the application has the issuer of this cluster. '],
  ['AADSTS700213', 'no federated credential of the application has this service account as its subject. '],
  ['AADSTS700024', 'the token of the service account has expired: is the clock right? '],
]);

/** The advice for an error, ending in a space; empty where there is none. */
export function explainEntraError(description: string): string {
  const code = /\bAADSTS\d+/.exec(description)?.[0];
  return code === undefined ? '' : (advice.get(code) ?? '');
}
