import { checked, ivBytes, nonceBytes, tagBytes } from './ciphertext.ts';
import type { Ciphertext } from './ciphertext.ts';
import type { KeyAlgorithm } from './key.ts';
import { readMessagePackCiphertext } from './message-pack-ciphertext.ts';

/**
 * Reads any of the three encodings: JSON (the oldest), MessagePack (2023), raw (later). Raw bytes are random and may begin like the
 * others, so what does not parse whole as one of them is raw. Undefined where it can be none.
 */
export function parseCiphertext(data: Buffer): Ciphertext | undefined {
  const structured = data[0] === 0x7b ? readJson(data) : data[0] === 0x95 ? readMessagePackCiphertext(data) : undefined;
  return structured ?? readRaw(data);
}

function readRaw(data: Buffer): Ciphertext | undefined {
  const end = data.length - ivBytes - nonceBytes;
  if (end < tagBytes) return undefined;
  return { sealed: data.subarray(0, end), iv: data.subarray(end, end + ivBytes), nonce: data.subarray(end + ivBytes) };
}

const jsonAlgorithms: Readonly<Record<string, KeyAlgorithm>> = {
  'AES-256-GCM-HMAC-SHA-256': 'AES256-GCM_SHA256',
  ChaCha20Poly1305: 'XCHACHA20-POLY1305',
};

function readJson(data: Buffer): Ciphertext | undefined {
  let json: unknown;
  try {
    json = JSON.parse(data.toString('utf8'));
  } catch {
    return undefined;
  }
  const { aead, id, iv, nonce, bytes } = json as Record<string, unknown>;
  const algorithm = typeof aead === 'string' ? jsonAlgorithms[aead] : undefined;
  if (algorithm === undefined) return undefined;
  if (typeof iv !== 'string' || typeof nonce !== 'string' || typeof bytes !== 'string') return undefined;
  return checked({
    algorithm,
    ...(typeof id === 'string' && id !== '' ? { keyId: id } : {}),
    iv: Buffer.from(iv, 'base64'),
    nonce: Buffer.from(nonce, 'base64'),
    sealed: Buffer.from(bytes, 'base64'),
  });
}
