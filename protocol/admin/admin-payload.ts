import { FormatError } from '../format-error.ts';
import crypto, { createCipheriv, createDecipheriv, pbkdf2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

/**
 * The admin API encrypts payloads that hold secrets under the caller's secret key. A payload is 32 bytes of salt, one byte that names the
 * algorithm, 8 bytes of nonce, and chunks of 16 KiB, each with a tag. The nonces of the chunks count from 1. The additional data of each
 * chunk says whether it is the last one, so that a payload cannot be cut short.
 */
const algorithms = {
  /** Every client reads it. Its key takes 64 MiB and some tens of milliseconds. */
  'argon2id-aes': 0,
  'argon2id-chacha': 1,
  /** Its key costs a hundredth of the time and none of the memory. The Python client does not read it. */
  'pbkdf2-aes': 2,
} as const;

export type PayloadAlgorithm = keyof typeof algorithms;

/** The header in which a client of Coffer's own names the algorithm of the answer to a request without an encrypted body. */
export const answerAlgorithmHeader = 'x-coffer-answer-algorithm';

const cheapest: PayloadAlgorithm = 'pbkdf2-aes';

/** The headers by which Coffer's own clients ask for the answer that costs least. */
export const cheapestAnswer: Readonly<Record<string, string>> = { [answerAlgorithmHeader]: cheapest };

export function isPayloadAlgorithm(name: string): name is PayloadAlgorithm {
  return Object.hasOwn(algorithms, name);
}

/** Returns the algorithm that a payload names; undefined for none that is known. */
export function algorithmOf(payload: Buffer): PayloadAlgorithm | undefined {
  return Object.keys(algorithms)
    .filter(isPayloadAlgorithm)
    .find((name) => algorithms[name] === payload[SALT]);
}

const SALT = 32;
const NONCE = 8;
const HEAD = SALT + 1 + NONCE;
const CHUNK = 16 * 1024;
const TAG = 16;
const last = 0x80;

/** Servers read each algorithm. An answer has that of its request. */
export async function encryptPayload(
  secret: string,
  plaintext: Buffer,
  algorithm: PayloadAlgorithm = cheapest,
): Promise<Buffer> {
  const salt = randomBytes(SALT);
  const nonce = randomBytes(NONCE);
  const id = algorithms[algorithm];
  const cipher = new ChunkCipher(id, await keyOf(id, secret, salt), nonce);
  return Buffer.concat([salt, Buffer.of(id), nonce, sealChunks(cipher, plaintext)]);
}

/** The random key of a file that is encrypted for its reader alone, with the nonce 0: the key is used once. */
const fileNonce = Buffer.alloc(NONCE);

/** Encrypts a file under a key of 32 bytes that nothing else is encrypted with. */
export function encryptFile(key: Buffer, plaintext: Buffer): Buffer {
  return sealChunks(new ChunkCipher(algorithms['pbkdf2-aes'], key, fileNonce), plaintext);
}

/** Decrypts a file. Throws `FormatError`. */
export function decryptFile(key: Buffer, sealed: Buffer): Buffer {
  return openChunks(new ChunkCipher(algorithms['pbkdf2-aes'], key, fileNonce), sealed);
}

function sealChunks(cipher: ChunkCipher, plaintext: Buffer): Buffer {
  const chunks = Array.from({ length: Math.max(1, Math.ceil(plaintext.length / CHUNK)) }, (_, at) =>
    plaintext.subarray(at * CHUNK, (at + 1) * CHUNK),
  );
  return Buffer.concat(chunks.map((chunk, at) => cipher.seal(chunk, at + 1, at === chunks.length - 1)));
}

function openChunks(cipher: ChunkCipher, sealed: Buffer): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; at < sealed.length; at += CHUNK + TAG) {
    const end = Math.min(at + CHUNK + TAG, sealed.length);
    chunks.push(cipher.open(sealed.subarray(at, end), chunks.length + 1, end === sealed.length));
  }
  if (chunks.length === 0) throw new FormatError('the encrypted payload is cut short');
  return Buffer.concat(chunks);
}

/**
 * Rejects with `FormatError`. Two of its algorithms take 64 MiB and a tenth of a second, so the caller limits how many run at the same
 * time.
 */
export async function decryptPayload(secret: string, payload: Buffer): Promise<Buffer> {
  const algorithm = payload[SALT];
  if (payload.length < HEAD + TAG || algorithm === undefined)
    throw new FormatError('the encrypted payload is too short');
  const key = await keyOf(algorithm, secret, payload.subarray(0, SALT));
  const cipher = new ChunkCipher(algorithm, key, payload.subarray(SALT + 1, HEAD));
  return openChunks(cipher, payload.subarray(HEAD));
}

const derivePbkdf2 = promisify(pbkdf2);

async function keyOf(algorithm: number, secret: string, salt: Buffer): Promise<Buffer> {
  switch (algorithm) {
    case algorithms['argon2id-aes']:
    case algorithms['argon2id-chacha']:
      return deriveArgon2(secret, salt);
    case algorithms['pbkdf2-aes']:
      return derivePbkdf2(secret, salt, 8_192, 32, 'sha256');
    default:
      throw new FormatError(`the encrypted payload names the algorithm ${algorithm}, which is not known`);
  }
}

/** Bytes of the key, passes, KiB of memory, and lanes: the parameters of MinIO's payloads. */
const argon2id = { tagLength: 32, passes: 1, memory: 64 * 1024, parallelism: 4 } as const;

/** Node before 24.7, which runs the client only, has no Argon2: a library takes some tenths of a second for it. */
async function deriveArgon2(secret: string, salt: Buffer): Promise<Buffer> {
  const { argon2 } = crypto as { readonly argon2?: typeof crypto.argon2 };
  if (argon2 !== undefined) {
    return promisify(argon2)('argon2id', { message: Buffer.from(secret), nonce: salt, ...argon2id });
  }
  const { argon2idAsync } = await import('@noble/hashes/argon2.js');
  const { tagLength, passes, memory, parallelism } = argon2id;
  return Buffer.from(
    await argon2idAsync(Buffer.from(secret), salt, { t: passes, m: memory, p: parallelism, dkLen: tagLength }),
  );
}

class ChunkCipher {
  readonly #name: 'aes-256-gcm' | 'chacha20-poly1305';
  readonly #key: Buffer;
  readonly #nonce: Buffer;
  /** The additional data of all chunks: the tag of an empty text under the first nonce. */
  readonly #bound: Buffer;

  constructor(algorithm: number, key: Buffer, nonce: Buffer) {
    this.#name = algorithm === algorithms['argon2id-chacha'] ? 'chacha20-poly1305' : 'aes-256-gcm';
    this.#key = key;
    this.#nonce = nonce;
    this.#bound = this.#encrypt(Buffer.alloc(0), 0, Buffer.alloc(0));
  }

  seal(chunk: Buffer, counter: number, isLast: boolean): Buffer {
    return this.#encrypt(chunk, counter, this.#boundTo(isLast));
  }

  open(sealed: Buffer, counter: number, isLast: boolean): Buffer {
    if (sealed.length < TAG) throw new FormatError('the encrypted payload is cut short');
    const decipher = createDecipheriv(this.#name as 'aes-256-gcm', this.#key, this.#nonceOf(counter), {
      authTagLength: TAG,
    });
    const end = sealed.length - TAG;
    decipher.setAAD(this.#boundTo(isLast), { plaintextLength: end });
    decipher.setAuthTag(sealed.subarray(end));
    const chunk = decipher.update(sealed.subarray(0, end));
    try {
      decipher.final();
    } catch (error) {
      throw new FormatError('the payload was damaged, or encrypted under another secret key', { cause: error });
    }
    return chunk;
  }

  #encrypt(chunk: Buffer, counter: number, boundTo: Buffer): Buffer {
    const cipher = createCipheriv(this.#name as 'aes-256-gcm', this.#key, this.#nonceOf(counter), {
      authTagLength: TAG,
    });
    if (boundTo.length > 0) cipher.setAAD(boundTo, { plaintextLength: chunk.length });
    const sealed = cipher.update(chunk);
    cipher.final();
    return Buffer.concat([sealed, cipher.getAuthTag()]);
  }

  #boundTo(isLast: boolean): Buffer {
    return Buffer.concat([Buffer.of(isLast ? last : 0), this.#bound]);
  }

  #nonceOf(counter: number): Buffer {
    const nonce = Buffer.alloc(NONCE + 4);
    this.#nonce.copy(nonce);
    nonce.writeUInt32LE(counter, NONCE);
    return nonce;
  }
}
