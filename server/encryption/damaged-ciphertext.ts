/** The ciphertext was changed, cut, reordered, or is not of this key. */
export class DamagedCiphertext extends Error {
  override readonly name = 'DamagedCiphertext';
}
