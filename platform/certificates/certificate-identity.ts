// The identity belongs to the protocol of the key service; programs that deal in certificates find it here.
export { identityOfCertificate, isIdentity } from '../../protocol/key-service/identity.ts';
export type { Identity } from '../../protocol/key-service/identity.ts';
