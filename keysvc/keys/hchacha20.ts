/**
 * A 32-byte key from a key and 16 bytes of nonce: what XChaCha20 does before ChaCha20.
 *
 * @see https://datatracker.ietf.org/doc/html/draft-irtf-cfrg-xchacha-03#section-2.2
 */
export function hchacha20(key: Buffer, nonce: Buffer): Buffer {
  if (key.length !== 32 || nonce.length !== 16)
    throw new RangeError('HChaCha20 takes a key of 32 and a nonce of 16 bytes');
  const state = new Uint32Array(16);
  state.set([0x61707865, 0x3320646e, 0x79622d32, 0x6b206574]);
  for (let i = 0; i < 8; i++) state[4 + i] = key.readUInt32LE(4 * i);
  for (let i = 0; i < 4; i++) state[12 + i] = nonce.readUInt32LE(4 * i);
  for (let round = 0; round < 10; round++) {
    quarter(state, 0, 4, 8, 12);
    quarter(state, 1, 5, 9, 13);
    quarter(state, 2, 6, 10, 14);
    quarter(state, 3, 7, 11, 15);
    quarter(state, 0, 5, 10, 15);
    quarter(state, 1, 6, 11, 12);
    quarter(state, 2, 7, 8, 13);
    quarter(state, 3, 4, 9, 14);
  }
  const out = Buffer.alloc(32);
  for (let i = 0; i < 4; i++) {
    out.writeUInt32LE(state[i] ?? 0, 4 * i);
    out.writeUInt32LE(state[12 + i] ?? 0, 16 + 4 * i);
  }
  return out;
}

function quarter(s: Uint32Array, a: number, b: number, c: number, d: number): void {
  addThenRotate(s, a, b, d, 16);
  addThenRotate(s, c, d, b, 12);
  addThenRotate(s, a, b, d, 8);
  addThenRotate(s, c, d, b, 7);
}

/** s[to] += s[from]; s[mixed] = (s[mixed] ^ s[to]) <<< bits */
function addThenRotate(s: Uint32Array, to: number, from: number, mixed: number, bits: number): void {
  const sum = ((s[to] ?? 0) + (s[from] ?? 0)) >>> 0;
  const x = (s[mixed] ?? 0) ^ sum;
  s[to] = sum;
  s[mixed] = (x << bits) | (x >>> (32 - bits));
}
