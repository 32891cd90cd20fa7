import type { CryptoKey, JWK, JWSHeaderParameters } from 'jose';

/** The provider's signing keys. Rejects with `OpenIdProblem` KeysUnreachable, or `IdentityProblem` UnknownKey. */
export type KeySet = (header: JWSHeaderParameters) => Promise<CryptoKey | JWK | Uint8Array>;
