import { formatScope, sign, type SignatureScope, type SigningKey } from './signing-key.ts';

/** 64 hexadecimal digits. */
export function computeSignature(
  signingKey: SigningKey,
  timestamp: string,
  scope: SignatureScope,
  canonicalHash: string,
): string {
  return sign(signingKey, `AWS4-HMAC-SHA256\n${timestamp}\n${formatScope(scope)}\n${canonicalHash}`);
}
